import { testPython } from './testPython.ts'

// The package against servers of its own that misbehave. mypy, the built package and the real gateway are in python.verify.ts.
await testPython({
  pytest: ['-n', '2'],
  minTests: 1_000,
  checks: [
    ['ruff', 'check', '.'],
    ['ruff', 'format', '--check', '.'],
  ],
})
