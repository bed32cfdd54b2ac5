// Runs a program with the Python of the workspace: `node scripts/python.ts PROGRAM …`. The first run installs the packages.
import { spawnSync } from 'node:child_process'
import { formatMissing } from './externalPrograms.ts'
import { setUpPython } from './setUpPython.ts'

const found = await setUpPython(() =>
  console.error('Setting up: installing Python packages into packages/python/.venv. This takes about a minute, once.'),
)
if ('missing' in found) {
  console.error(`Python cannot be set up: ${formatMissing(found.missing)}`)
  process.exit(2)
}
const { status, error } = spawnSync(found.python, process.argv.slice(2), { stdio: 'inherit' })
if (error) throw error
process.exitCode = status ?? 1
