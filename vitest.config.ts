import { defineConfig } from 'vitest/config'
import { requireAllPrograms } from './scripts/externalPrograms.ts'
import { changedProjects, LongFirst, testProjects } from './scripts/testProjects.ts'

/** `--changed`, or `--changed=<commit>`. */
const changed = process.argv.find((word) => /^--changed(=|$)/.test(word))

requireAllPrograms()

// The tests of `npm test`. What takes longer is in vitest.verify.config.ts.
export default defineConfig({
  test: {
    projects: changed ? changedProjects(changed.split('=')[1] ?? 'HEAD') : testProjects('test'),
    // Most tests wait for servers: with one worker for each of two cores the machine would be half idle.
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
    reporters: ['minimal', './scripts/runReporter.ts'],
    // What a passing test prints would hide the failures.
    silent: 'passed-only',
    coverage: { provider: 'v8', include: ['packages/*/src/**/*.ts'], reporter: ['text-summary'] },
  },
})
