import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { top } from './run.ts'

interface Fixtures {
  readonly chain: string
  readonly client: string
  readonly fixtures: readonly {
    readonly kind: string
    readonly origin: string
    readonly extra?: readonly string[]
    readonly lacks?: readonly string[]
  }[]
}

const read = (file: string): string => readFileSync(join(top, file), 'utf8')

/** Returns the rows of the support table, without its header. */
const rows = (): string[][] => {
  const lines = read('docs/chains.md').split('\n')
  const head = lines.findIndex((line) => /^\| chain +\| client /.test(line))
  const end = lines.indexOf('', head)
  return lines.slice(head + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const code = (names: readonly string[]): string => [...new Set(names)].map((name) => `\`${name}\``).join(' ')

function expectedRow({ chain, client, fixtures }: Fixtures): string[] {
  const counts = ['recorded', 'documented'].flatMap((origin) => {
    const count = fixtures.filter((fixture) => fixture.origin === origin).length
    return count > 0 ? [`${count} ${origin}`] : []
  })
  const list = (name: 'extra' | 'lacks'): string => code(fixtures.flatMap((fixture) => fixture[name] ?? []))
  return [chain, client, counts.join(', '), list('extra'), list('lacks')]
}

test('the table of docs/chains.md matches the fixtures of each client, and marks every other client as untested', () => {
  const fixtures = globSync('packages/vectors/chains/*.json', { cwd: top }).map(
    (file) => JSON.parse(read(file)) as Fixtures,
  )
  const key = (row: readonly string[]): string => `${row[0]} ${row[1]}`
  const byName = (list: string[][]): string[][] => list.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
  const [tested, untested] = [true, false].map((wanted) => rows().filter((row) => (row[2] !== 'untested') === wanted))
  expect(byName(tested ?? [])).toEqual(byName(fixtures.map(expectedRow)))
  for (const [chain, ...cells] of untested ?? []) {
    expect(cells, chain).toEqual(['', 'untested', '', ''])
    expect(fixtures.map((one) => one.chain)).not.toContain(chain)
  }
  expect(rows().length).toBeGreaterThanOrEqual(20)
})
