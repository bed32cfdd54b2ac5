import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const gateway = join(import.meta.dirname, '../..')
const document = readFileSync(join(gateway, '../../docs/service/limits.md'), 'utf8')

/** A row of a table whose last column is `test`. */
interface Row {
  readonly section: string
  readonly situation: string
  readonly tests: readonly { readonly file: string; readonly title: string }[]
}

const getCells = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

const parseTests = (cell: string): Row['tests'] =>
  cell.split('<br>').flatMap((part) => {
    const [, file, title] = /^`([^`]+)`: (.+)$/.exec(part.trim()) ?? []
    return file === undefined || title === undefined ? [] : [{ file, title }]
  })

const readRows = (markdown: string): Row[] => {
  const rows: Row[] = []
  let section = ''
  let isInTable = false
  for (const line of markdown.split('\n')) {
    const cells = getCells(line)
    if (line.startsWith('#')) section = line.replace(/^#+ /, '')
    if (!line.startsWith('|')) isInTable = false
    else if (isInTable && !/^[\s|-]+$/.test(line))
      rows.push({ section, situation: cells[0] ?? '', tests: parseTests(cells.at(-1) ?? '') })
    else if (cells.at(-1) === 'test') isInTable = true
  }
  return rows
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

const findFaults = (rows: readonly Row[], read: (file: string) => string): string[] =>
  rows.flatMap(({ situation, tests }) => {
    if (tests.length === 0) return [`${situation}: no test`]
    return tests
      .filter(({ file, title }) => !/\.(?:test|verify)\.ts$/.test(file) || !hasTest(read(file), title))
      .map(({ file, title }) => `${situation}: ${file} has no test "${title}"`)
  })

describe('docs/service/limits.md', () => {
  test('names a test for each guarantee, and each of them exists', () => {
    const rows = readRows(document)
    expect(findFaults(rows, readSource)).toEqual([])
    const sections = rows.map(({ section }) => section)
    for (const section of ['One machine', 'Cluster', 'Which calls count'])
      expect(sections.filter((each) => each === section).length, section).toBeGreaterThan(5)
  })

  test('a row without a test, a missing file and a missing title are found', () => {
    const rows = readRows(
      [
        '| situation | guaranteed | test |',
        '| --- | --- | --- |',
        '| fine | - | `a.test.ts`: works<br>`a.test.ts`: a case |',
        '| empty | - | |',
        '| wrong | - | `a.test.ts`: fails<br>`b.test.ts`: works |',
        '| skipped | - | `a.test.ts`: later |',
        '',
        '| name | other |',
        '| --- | --- |',
        '| not a guarantee | - |',
      ].join('\n'),
    )
    const source = `test('works', () => {})\ntest.each([['a case', 1]])('%s', () => {})\ntest.skip('later', () => {})`
    expect(findFaults(rows, (file) => (file === 'a.test.ts' ? source : ''))).toEqual([
      'empty: no test',
      'wrong: a.test.ts has no test "fails"',
      'wrong: b.test.ts has no test "works"',
      'skipped: a.test.ts has no test "later"',
    ])
  })
})
