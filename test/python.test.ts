import { testPython } from './testPython.ts'

// Tests the package against mock servers. python.verify.ts has the slow tests, mypy, the other versions of Python, the built package and the
// real gateway.
await testPython({
  pytest: ['-n', '2', '-m', 'not slow'],
  minTests: 1_000,
  checks: [
    ['ruff', 'check', '.'],
    ['ruff', 'format', '--check', '.'],
  ],
})
