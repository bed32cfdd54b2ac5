// Prints the next step of the release workflow, as lines for $GITHUB_OUTPUT. It needs no installed packages.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { readReleaseGroup } from './release/readReleaseGroup.ts'
import { getReleaseStep } from './release/getReleaseStep.ts'

const top = join(import.meta.dirname, '..')
const group = readReleaseGroup(top)
const tags = execFileSync('git', ['tag', '--list'], { cwd: top, encoding: 'utf8' }).split('\n')
console.log(`step=${getReleaseStep(group, tags)}\nversion=${group.version}`)
