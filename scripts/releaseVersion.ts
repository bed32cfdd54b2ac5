// Sets the next version from the changesets: in manifests, changelogs, the source of core and the Python package.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readReleaseGroup } from './release/readReleaseGroup.ts'
import { toPythonVersion, withPythonVersion } from './release/toPythonVersion.ts'

const top = join(import.meta.dirname, '..')
const changeset = join(top, 'node_modules/@changesets/cli/bin.js')
execFileSync(process.execPath, [changeset, 'version'], { cwd: top, stdio: ['ignore', 2, 2] })

const { version, members } = readReleaseGroup(top)
const pyproject = join(top, 'packages/python/pyproject.toml')
writeFileSync(pyproject, withPythonVersion(readFileSync(pyproject, 'utf8'), toPythonVersion(version)))
const source = join(top, 'packages/core/src/version.ts')
writeFileSync(source, readFileSync(source, 'utf8').replace(/'.*'/, `'${version}'`))
console.log(`${version}: ${members.map(({ manifest }) => manifest.name).join(', ')}, and keyrail for Python`)
