import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import guarantees from './guarantees.json' with { type: 'json' }

const gateway = join(import.meta.dirname, '../..')
const document = readFileSync(join(gateway, '../../docs/service/guarantees.md'), 'utf8')

/** The titles of tests, by file, by guarantee, by section of the page. */
type Guarantees = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>>>

/** Reads the first cell of each row of the page's tables, by section. */
const readSituations = (markdown: string): Record<string, string[]> => {
  const situations: Record<string, string[]> = {}
  let section = ''
  for (const line of markdown.split('\n')) {
    if (line.startsWith('#')) section = line.replace(/^#+ /, '')
    const cell = /^\| (.+?) +\|/.exec(line)?.[1]
    if (cell !== undefined && cell !== 'situation' && !/^-+$/.test(cell)) (situations[section] ??= []).push(cell)
  }
  return situations
}

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** Whether a file has a test of this title: `test('…'`, the name of a `test.each`, or the first value of one of its rows. */
const hasTest = (source: string, title: string): boolean =>
  new RegExp(String.raw`(?:\btest\(|\)\(|\[)\s*(['"])${escape(title)}\1`).test(source)

const readSource = (file: string): string => {
  try {
    return readFileSync(join(gateway, file), 'utf8')
  } catch {
    return ''
  }
}

const findProblems = (sections: Guarantees, read: (file: string) => string): string[] =>
  Object.values(sections).flatMap((rows) =>
    Object.entries(rows).flatMap(([situation, files]) => {
      const tests = Object.entries(files).flatMap(([file, titles]) => titles.map((title) => ({ file, title })))
      if (tests.length === 0) return [`${situation}: no test`]
      return tests
        .filter(({ file, title }) => !/\.(?:test|verify)\.ts$/.test(file) || !hasTest(read(file), title))
        .map(({ file, title }) => `${situation}: ${file} has no test "${title}"`)
    }),
  )

describe('docs/service/guarantees.md', () => {
  test('has tests for each guarantee, and each of them exists', () => {
    const situations = readSituations(document)
    expect(situations).toEqual(
      Object.fromEntries(Object.entries(guarantees).map(([section, rows]) => [section, Object.keys(rows)])),
    )
    for (const section of ['One machine', 'Cluster', 'Which calls count'])
      expect(situations[section]?.length, section).toBeGreaterThan(5)
    expect(findProblems(guarantees, readSource)).toEqual([])
  })

  test('a row without a test, a missing file and a missing title are found', () => {
    const source = `test('works', () => {})\ntest.each([['a case', 1]])('%s', () => {})\ntest.skip('later', () => {})`
    const sections = {
      'A section': {
        fine: { 'a.test.ts': ['works', 'a case'] },
        empty: {},
        wrong: { 'a.test.ts': ['fails'], 'b.test.ts': ['works'] },
        skipped: { 'a.test.ts': ['later'] },
      },
    }
    expect(findProblems(sections, (file) => (file === 'a.test.ts' ? source : ''))).toEqual([
      'empty: no test',
      'wrong: a.test.ts has no test "fails"',
      'wrong: b.test.ts has no test "works"',
      'skipped: a.test.ts has no test "later"',
    ])
  })

  test('a row is found by its first cell, and the head of a table is not a row', () => {
    const page = '## A section\n\n| situation | guarantee |\n| --------- | --------- |\n| `kill -9`  | Never over |\n'
    expect(readSituations(page)).toEqual({ 'A section': ['`kill -9`'] })
  })
})
