import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** Prints the number of tests as the last line, without colors and below coverage tables. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], strayErrors: readonly SerializedError[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    let brokenModules = 0
    for (const module of modules) {
      let failedHere = 0
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        count[state]++
        if (state === 'failed') failedHere++
      }
      if (module.state() === 'failed' && failedHere === 0) brokenModules++
    }
    // Errors outside of tests also fail the run, so they count as failed.
    const failed = count.failed + brokenModules + strayErrors.length
    console.log(`\ntests: ${count.passed} passed, ${failed} failed, ${count.skipped + count.pending} skipped`)
  }
}
