import { testPython } from './testPython.ts'

// Tests the package against mock servers. python.verify.ts has mypy, the built package and the real gateway.
await testPython({
  pytest: ['-n', '2'],
  minTests: 1_000,
  checks: [
    ['ruff', 'check', '.'],
    ['ruff', 'format', '--check', '.'],
  ],
})
