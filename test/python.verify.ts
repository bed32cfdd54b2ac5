import { globSync } from 'node:fs'
import { join } from 'node:path'
import { top } from './run.ts'
import { testPython } from './testPython.ts'

// Tests the built package in fresh environments, and the package against anvil through the real gateway.
await testPython({
  pytest: ['-n', '2', '--dist', 'loadgroup', ...globSync('tests/verify_*.py', { cwd: join(top, 'packages/python') })],
  minTests: 10,
  checks: [['mypy']],
})
