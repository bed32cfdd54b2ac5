import { defineConfig } from 'vitest/config'
import { testProjects } from './scripts/testProjects.ts'

// The tests of `npm run verify`, in files named `*.verify.ts`.
export default defineConfig({
  test: {
    projects: testProjects('verify'),
    maxWorkers: 4,
    reporters: ['default', './scripts/closingLineReporter.ts'],
  },
})
