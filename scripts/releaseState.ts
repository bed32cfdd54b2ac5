// Tells the release workflow what to do next, in lines for $GITHUB_OUTPUT. Nothing has to be installed for it.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { readReleaseGroup } from './release/readReleaseGroup.ts'
import { releaseStep } from './release/releaseStep.ts'

const top = join(import.meta.dirname, '..')
const group = readReleaseGroup(top)
const tags = execFileSync('git', ['tag', '--list'], { cwd: top, encoding: 'utf8' }).split('\n')
console.log(`step=${releaseStep(group, tags)}\nversion=${group.version}`)
