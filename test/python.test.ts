import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { setUpPython } from '../scripts/setUpPython.ts'
import { run, top } from './run.ts'
import type { Ran } from './run.ts'

// Python's tests are run by pytest, and each is told here as one of ours, so that the last line of `npm test` counts it.

interface PythonTest {
  readonly id: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** Why it failed or was left out. */
  readonly text: string
}

/** Where everything is to be tested, a Python that is missing is a failure. */
const mustRun = process.env['KEYRAIL_TEST_ALL'] === '1'
const folder = join(top, 'packages/python')
const told = mkdtempSync(join(tmpdir(), 'keyrail-python-'))
afterAll(() => rmSync(told, { recursive: true, force: true }))

const ready = await setUpPython()
const missing = 'missing' in ready ? ready.missing : undefined
if (missing !== undefined && !mustRun) console.log(`python: the tests of Python are left out: ${missing}`)

const python = (...words: readonly string[]): Promise<Ran> =>
  run('python' in ready ? ready.python : '', ['-m', ...words], { cwd: folder, timeoutMs: 900_000 })

interface Runs {
  readonly tests: readonly PythonTest[]
  readonly pytest: Ran
  readonly linted: readonly (readonly [name: string, ran: Ran])[]
}

async function runAll(): Promise<Runs> {
  const report = join(told, 'report.json')
  // Most of them wait, for deadlines and for servers.
  const testing = python('pytest', '-n', '4', '--dist', 'loadgroup', '--report', report)
  const linted: [string, Ran][] = []
  for (const words of [['ruff', 'check', '.'], ['ruff', 'format', '--check', '.'], ['mypy']])
    linted.push([words.join(' '), await python(...words)])
  const pytest = await testing
  let tests: PythonTest[] = []
  try {
    tests = JSON.parse(readFileSync(report, 'utf8')) as PythonTest[]
  } catch {
    // It ended before it could tell: its code and its words are judged below.
  }
  return { tests, pytest, linted }
}

// Before the tests are named: each is one of those that pytest found.
const runs = missing === undefined ? await runAll() : undefined

const absent = missing === undefined ? [] : [missing]
test.skipIf(!mustRun).each(absent)('Python: %s', (why) => expect.fail(why))

describe.runIf(runs)('Python', () => {
  const { tests = [], pytest, linted = [] } = runs ?? {}

  test('pytest runs to its end, and finds the tests', () => {
    expect(tests.length).toBeGreaterThan(1_000)
    const failed = tests.some(({ outcome }) => outcome === 'failed')
    expect(pytest?.code, `${pytest?.stdout}${pytest?.stderr}`).toBe(failed ? 1 : 0)
  })

  test.each(linted)('%s finds nothing', (_, { code, stdout, stderr }) => {
    expect(code, stdout + stderr).toBe(0)
  })

  test.each(tests.filter(({ outcome }) => outcome !== 'skipped'))('$id', ({ outcome, text }) => {
    expect(outcome, text).toBe('passed')
  })

  // Where everything is to be tested, nothing may be left out.
  test.skipIf(!mustRun).each(tests.filter(({ outcome }) => outcome === 'skipped'))('$id: $text', ({ text }) => {
    expect.fail(text)
  })
})
