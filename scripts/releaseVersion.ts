// Makes the next version of the changesets that wait: manifests, changelogs, and the Python package's version with them.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readReleaseGroup } from './release/readReleaseGroup.ts'
import { pythonVersion, withPythonVersion } from './release/pythonVersion.ts'

const top = join(import.meta.dirname, '..')
const changeset = join(top, 'node_modules/@changesets/cli/bin.js')
execFileSync(process.execPath, [changeset, 'version'], { cwd: top, stdio: ['ignore', 2, 2] })

const { version, members } = readReleaseGroup(top)
const pyproject = join(top, 'packages/python/pyproject.toml')
writeFileSync(pyproject, withPythonVersion(readFileSync(pyproject, 'utf8'), pythonVersion(version)))
console.log(`${version}: ${members.map(({ manifest }) => manifest.name).join(', ')}, and keyrail of Python`)
