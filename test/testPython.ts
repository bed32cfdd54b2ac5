import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { mustFindAll } from '../scripts/externalPrograms.ts'
import { needsPython, setUpPython } from '../scripts/setUpPython.ts'
import type { PythonEnvironment } from '../scripts/setUpPython.ts'
import { run, top } from './run.ts'
import type { Ran } from './run.ts'

interface PythonTest {
  readonly id: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** Why the test failed or was skipped. */
  readonly text: string
}

/** What to run in a virtual environment of the Python package. */
export interface PythonSuite {
  /** The name of the suite. @default 'Python' */
  readonly name?: string
  /** The environment. Default: that of the default Python with the newest dependencies. */
  readonly environment?: PythonEnvironment
  /** Arguments for pytest. */
  readonly pytest: readonly string[]
  /** At least this many tests must run, so that a typo in the arguments does not pass. */
  readonly minTests: number
  /** Linters and type checkers that must find nothing: each a module with its arguments. */
  readonly checks: readonly (readonly string[])[]
}

interface SuiteRun {
  readonly tests: readonly PythonTest[]
  readonly pytest: Ran
  readonly checks: readonly (readonly [name: string, ran: Ran])[]
}

const folder = join(top, 'packages/python')

async function runSuite(suite: PythonSuite, python: string): Promise<SuiteRun> {
  const runModule = (words: readonly string[]): Promise<Ran> =>
    run(python, ['-m', ...words], { cwd: folder, timeoutMs: 900_000 })
  const reports = mkdtempSync(join(tmpdir(), 'keyrail-python-'))
  afterAll(() => rmSync(reports, { recursive: true, force: true }))
  const report = join(reports, 'report.json')
  // pytest and the checks run at the same time, because many of the tests wait for deadlines and servers.
  const testing = runModule(['pytest', ...suite.pytest, '--report', report])
  const checks: [string, Ran][] = []
  for (const words of suite.checks) checks.push([words.join(' '), await runModule(words)])
  const pytest = await testing
  let tests: PythonTest[] = []
  try {
    tests = JSON.parse(readFileSync(report, 'utf8')) as PythonTest[]
  } catch {
    // pytest wrote no report. The first test below shows its exit code and output.
  }
  return { tests, pytest, checks }
}

/**
 * Runs tests of the Python package with pytest, and registers each as a Vitest test, so that Vitest counts and reports it. Without Python it
 * registers one skipped test.
 *
 * @param suite - What to run.
 */
export async function testPython(suite: PythonSuite): Promise<void> {
  const environment = await setUpPython(undefined, suite.environment)
  const options = needsPython(environment, 'openssl')
  const ran = 'python' in environment && !options.skip ? await runSuite(suite, environment.python) : undefined
  describe(suite.name ?? 'Python', options, () => {
    const { tests = [], pytest, checks = [] } = ran ?? {}

    test('pytest finds the tests and completes', () => {
      const output = `${pytest?.stdout}${pytest?.stderr}`
      expect(tests.length, output).toBeGreaterThanOrEqual(suite.minTests)
      const failed = tests.some(({ outcome }) => outcome === 'failed')
      expect(pytest?.code, output).toBe(failed ? 1 : 0)
    })

    test.each(checks)('%s finds nothing', (_, { code, stdout, stderr }) => {
      expect(code, stdout + stderr).toBe(0)
    })

    test.each(tests.filter(({ outcome }) => outcome !== 'skipped'))('$id', ({ outcome, text }) => {
      expect(outcome, text).toBe('passed')
    })

    // A skipped test is a failure if all tests have to run.
    test.skipIf(!mustFindAll).each(tests.filter(({ outcome }) => outcome === 'skipped'))('$id: $text', ({ text }) => {
      expect.fail(text)
    })
  })
}
