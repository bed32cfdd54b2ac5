import { globSync } from 'node:fs'
import { join } from 'node:path'
import { findPythons } from '../scripts/externalPrograms.ts'
import { top } from './run.ts'
import { testPython } from './testPython.ts'

// Tests the built package in fresh environments, and the package against anvil through the real gateway.
await testPython({
  pytest: ['-n', '2', '--dist', 'loadgroup', ...globSync('tests/verify_*.py', { cwd: join(top, 'packages/python') })],
  minTests: 10,
  checks: [['mypy']],
})

// The whole suite on each supported Python of this machine: on the oldest one with the oldest dependencies that the package allows, and on the
// others with the newest.
for (const [at, [version, program]] of [...findPythons()].entries()) {
  const oldest = at === 0
  await testPython({
    name: `Python ${version} with the ${oldest ? 'oldest' : 'newest'} dependencies`,
    environment: {
      program,
      name: `.venv-${version}${oldest ? '-oldest' : ''}`,
      requirements: oldest ? 'requirements-oldest.txt' : 'requirements.txt',
    },
    pytest: ['-n', '2'],
    minTests: 1_000,
    checks: [],
  })
}
