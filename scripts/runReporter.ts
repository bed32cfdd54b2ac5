import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification } from 'vitest/node'
import type { Missing } from './externalPrograms.ts'

const progressMs = 15_000

const format = (count: number): string => count.toLocaleString('en')

/** Returns what a test and the suites around it need and this machine lacks. */
const getMissing = (test: TestCase): ReadonlyMap<string, Missing> => {
  const missing = new Map<string, Missing>()
  let entity: TestCase | TestCase['parent'] = test
  for (;;) {
    for (const one of entity.meta().missing ?? []) missing.set(one.name, one)
    if (entity.type === 'module') return missing
    entity = entity.parent
  }
}

/** Returns a line for each thing that is missing: how many tests were skipped for it, and how to get it. */
const formatMissing = (skipped: readonly TestCase[]): string[] => {
  const all = new Map<string, Missing & { tests: number }>()
  for (const test of skipped)
    for (const [name, one] of getMissing(test)) all.set(name, { ...one, tests: (all.get(name)?.tests ?? 0) + 1 })
  const rows = [...all.values()].toSorted((one, other) => other.tests - one.tests)
  const width = Math.max(0, ...rows.map(({ name }) => name.length))
  return rows.map(({ name, fix, tests }) => `  ${name.padEnd(width)}  ${format(tests).padStart(5)} skipped  ${fix}`)
}

/**
 * Prints the progress and the files that run, then what is missing on this machine, and the number of tests as the last line, without colors and below
 * coverage tables.
 */
export default class RunReporter implements Reporter {
  #timer: NodeJS.Timeout | undefined
  #files = 0
  #passed = 0
  #running = new Set<string>()

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const startedAt = performance.now()
    this.#files = 0
    this.#passed = 0
    this.#running.clear()
    this.#timer = setInterval(() => {
      const seconds = Math.round((performance.now() - startedAt) / 1_000)
      const files = `${format(this.#files)} of ${format(specifications.length)} files`
      console.log(
        `${files}, ${format(this.#passed)} tests passed, ${seconds} s. Running: ${[...this.#running].join(', ')}`,
      )
    }, progressMs)
  }

  onTestModuleQueued(module: TestModule): void {
    this.#running.add(module.relativeModuleId)
  }

  onTestCaseResult(test: TestCase): void {
    if (test.result().state === 'passed') this.#passed += 1
  }

  onTestModuleEnd(module: TestModule): void {
    this.#files += 1
    this.#running.delete(module.relativeModuleId)
  }

  onTestRunEnd(modules: readonly TestModule[], strayErrors: readonly SerializedError[]): void {
    clearInterval(this.#timer)
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    let brokenModules = 0
    const skipped: TestCase[] = []
    for (const module of modules) {
      let failedHere = 0
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        count[state]++
        if (state === 'failed') failedHere++
        if (state === 'skipped') skipped.push(test)
      }
      if (module.state() === 'failed' && failedHere === 0) brokenModules++
    }
    const missing = formatMissing(skipped)
    if (missing.length > 0)
      console.log(
        `\nSkipped, because this machine lacks programs. "npm run programs" prints the commands for all:\n${missing.join('\n')}`,
      )
    // Errors outside of tests also fail the run, so they count as failed.
    const failed = count.failed + brokenModules + strayErrors.length
    console.log(`\ntests: ${count.passed} passed, ${failed} failed, ${count.skipped + count.pending} skipped`)
  }
}
