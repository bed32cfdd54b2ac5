import { defineConfig } from 'vitest/config'
import { changedProjects, LongFirst, testProjects } from './scripts/testProjects.ts'

/** `--changed`, or `--changed=<commit>`. */
const changed = process.argv.find((word) => /^--changed(=|$)/.test(word))

// The tests of `npm test`. What takes longer is in vitest.verify.config.ts.
export default defineConfig({
  test: {
    projects: changed ? changedProjects(changed.split('=')[1] ?? 'HEAD') : testProjects('test'),
    // Most tests wait for servers: with one worker for each of two cores the machine would be half idle.
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
    reporters: ['default', './scripts/closingLineReporter.ts'],
    coverage: { provider: 'v8', include: ['packages/*/src/**/*.ts'], reporter: ['text-summary'] },
  },
})
