import { defineConfig } from 'vitest/config'
import { requireAllPrograms } from './scripts/externalPrograms.ts'
import { LongFirst, testProjects } from './scripts/testProjects.ts'

requireAllPrograms()

// The tests of `npm run verify`, in files named `*.verify.ts`.
export default defineConfig({
  test: {
    projects: testProjects('verify'),
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
    reporters: ['minimal', './scripts/runReporter.ts'],
    // What a passing test prints would hide the failures.
    silent: 'passed-only',
  },
})
