import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { top } from './run.ts'

const read = (file: string): string => readFileSync(join(top, file), 'utf8')
const page = read('docs/service/sizing.md')
const measured = JSON.parse(read('packages/bench/results.json')) as Record<
  string,
  { readonly figures?: Readonly<Record<string, readonly number[]>> }
>

/** The median of what was measured, in µs: CPU of an answer, or the time of a call. */
function median(row: string): number {
  const sorted = [...(measured[row]?.figures?.['gateway'] ?? [])].sort((a, b) => a - b)
  if (sorted.length === 0) throw new Error(`the row ${row} was never measured: npm run bench -- --only ${row}`)
  return sorted[sorted.length >> 1] as number
}

/** The cells of the rows of a table, by what a row ends in or begins with. */
const cells = (line: string): string[] => line.split('|').map((cell) => cell.trim())
const number = (cell = ''): number => Number(cell.replaceAll(/[^\d.]/g, ''))

function planned(row: string): number {
  const line = page.split('\n').find((one) => one.startsWith('|') && one.includes(`\`${row}\``))
  return number(cells(line ?? '')[2])
}

test('what one instance carries is planned with room, and not far below what was measured', () => {
  for (const [row, carried] of [
    ['gatewaySingle', 1_000_000 / median('gatewaySingle')],
    ['gatewayBatch', 100_000_000 / median('gatewayBatch')],
  ] as const) {
    expect(planned(row), row).toBeLessThanOrEqual(0.75 * carried)
    expect(planned(row), row).toBeGreaterThanOrEqual(0.15 * carried)
  }
  expect(planned('gatewayLone')).toBeGreaterThanOrEqual(median('gatewayLone') / 1_000)
})

test('no row of the table asks more of its instances than is planned for each, and several keep one to spare', () => {
  const rows = page
    .split('\n')
    .slice(page.split('\n').findIndex((line) => line.includes('calls in the busiest second')) + 2)
    .filter((line) => /^\| +[\d,]+ \|/.test(line))
    .map((line) => cells(line).slice(1, 6))
  expect(rows.length).toBeGreaterThan(3)
  for (const [calls, instances, cores, memory, database] of rows) {
    const working = number(instances) === 1 ? 1 : number(instances) - 1
    expect(number(calls), calls).toBeLessThanOrEqual(working * planned('gatewaySingle'))
    expect(number(cores), calls).toBeGreaterThanOrEqual(number(instances))
    expect(number(memory), calls).toBeGreaterThanOrEqual(number(instances))
    expect(database, calls).toMatch(number(instances) === 1 ? /^SQLite/ : /^PostgreSQL/)
  }
})
