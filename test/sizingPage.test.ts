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

/** Returns the median of the measurements of a row, in µs: CPU time of a response, or the time of a call. */
function getMedian(row: string): number {
  const sorted = [...(measured[row]?.figures?.['gateway'] ?? [])].sort((a, b) => a - b)
  if (sorted.length === 0) throw new Error(`the row ${row} has no measurements: npm run measure -- bench --only ${row}`)
  return sorted[sorted.length >> 1] as number
}

/** Splits a table row into cells. */
const getCells = (line: string): string[] => line.split('|').map((cell) => cell.trim())
const parseNumber = (cell = ''): number => Number(cell.replaceAll(/[^\d.]/g, ''))

function getPlanned(row: string): number {
  const line = page.split('\n').find((one) => one.startsWith('|') && one.includes(`\`${row}\``))
  return parseNumber(getCells(line ?? '')[2])
}

test('the planned capacity of an instance is 15 % to 75 % of the measured one', () => {
  for (const [row, measuredPerSecond] of [
    ['gatewaySingle', 1_000_000 / getMedian('gatewaySingle')],
    ['gatewayBatch', 100_000_000 / getMedian('gatewayBatch')],
  ] as const) {
    expect(getPlanned(row), row).toBeLessThanOrEqual(0.75 * measuredPerSecond)
    expect(getPlanned(row), row).toBeGreaterThanOrEqual(0.15 * measuredPerSecond)
  }
  expect(getPlanned('gatewayLone')).toBeGreaterThanOrEqual(getMedian('gatewayLone') / 1_000)
})

test('no row of the table exceeds the planned capacity of its instances, and rows with several instances have a spare one', () => {
  const rows = page
    .split('\n')
    .slice(page.split('\n').findIndex((line) => line.includes('calls in the busiest second')) + 2)
    .filter((line) => /^\| +[\d,]+ \|/.test(line))
    .map((line) => getCells(line).slice(1, 6))
  expect(rows.length).toBeGreaterThan(3)
  for (const [calls, instances, cores, memory, database] of rows) {
    const working = parseNumber(instances) === 1 ? 1 : parseNumber(instances) - 1
    expect(parseNumber(calls), calls).toBeLessThanOrEqual(working * getPlanned('gatewaySingle'))
    expect(parseNumber(cores), calls).toBeGreaterThanOrEqual(parseNumber(instances))
    expect(parseNumber(memory), calls).toBeGreaterThanOrEqual(parseNumber(instances))
    expect(database, calls).toMatch(parseNumber(instances) === 1 ? /^SQLite/ : /^PostgreSQL/)
  }
})

test('the costs of a large cluster are the measured ones, times its instances', () => {
  const lines = page.split('\n').map(getCells)
  const find = (start: string): string[] => {
    const cells = lines.find(([, first = '']) => first.startsWith(start))
    if (cells === undefined) throw new Error(`there is no row "${start}"`)
    return cells
  }
  const getMeasured = (row: string): number => Number(/^[\d.]+/.exec(find(row)[3] ?? '')?.[0])
  const transactions = getMeasured('transactions of an instance without calls')
  const [, , fewTransactions, manyTransactions] = find('transactions a second without calls')
  expect(parseNumber(fewTransactions)).toBe(Math.round(26 * transactions))
  expect(parseNumber(manyTransactions)).toBe(1_000 * transactions)
  // Instances share checks, and each also probes a node itself about every 4.5 minutes.
  const checks = getMeasured('checks of a node in use')
  const [, , fewChecks, manyChecks] = find('checks of a node a second')
  expect(parseNumber(fewChecks)).toBeCloseTo(checks + 26 / 270, 1)
  expect(parseNumber(manyChecks)).toBe(Math.round(checks + 1_000 / 270))
  const [, , fewConnections, manyConnections] = find('connections to PostgreSQL, at most')
  expect([parseNumber(fewConnections), parseNumber(manyConnections)]).toEqual([26 * 10, 1_000 * 10])
})
