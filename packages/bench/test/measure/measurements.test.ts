import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { measurements } from './measurements.ts'

const top = join(import.meta.dirname, '../../../..')
const read = (file: string): string => readFileSync(join(top, file), 'utf8')
const names = Object.keys(measurements)

/** The cells of the rows of a page's tables. */
const readRows = (markdown: string): string[][] =>
  [...markdown.matchAll(/^\| `(.+)\|$/gm)].map(([, row = '']) => `\`${row}`.split(' | ').map((cell) => cell.trim()))

describe('npm run measure', () => {
  test('has an existing program for each name, and a script for nothing else', () => {
    for (const { program } of Object.values(measurements)) {
      expect(existsSync(join(top, program)), program).toBe(true)
      expect(program).toMatch(/^packages\/bench\//)
    }
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    expect(scripts['measure']).toContain('packages/bench/test/measure/main.ts')
    expect(Object.keys(scripts).filter((script) => names.includes(script))).toEqual([])
  })

  test('the page lists each of them as the table does', () => {
    const rows = Object.entries(measurements).map(([name, { shows, takes, options }]) => [
      `\`${name}\``,
      shows,
      takes,
      options,
    ])
    expect(readRows(read('packages/bench/README.md'))).toEqual(rows)
  })

  test('the workflow runs only names that exist', () => {
    const run = [...read('.github/workflows/measure.yml').matchAll(/- measure -- (\S+)/g)].map(([, name]) => name)
    expect(run.length).toBeGreaterThan(5)
    expect(run.filter((name) => !names.includes(name ?? ''))).toEqual([])
  })

  test.each([
    [[], 'Name a measurement. Usage: npm run measure -- NAME [options], with one of: soak, '],
    [['soaks'], 'There is no measurement "soaks". Usage: '],
    [['toString'], 'There is no measurement "toString". Usage: '],
  ])('rejects %j, and lists the names', (words, message) => {
    const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...words], {
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  test('passes the options on, and exits as the program does', () => {
    const main = join(import.meta.dirname, 'main.ts')
    const { status, stderr } = spawnSync(process.execPath, [main, 'fuzz', '--minutes', '0'], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, expect.stringContaining('--minutes must be a number above 0')])
  })
})
