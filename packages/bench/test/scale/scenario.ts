import type { Servers } from './openServers.ts'

/** A figure that must not be above its bar. */
export interface Bar {
  readonly name: string
  readonly is: number
  readonly atMost: number
  /** @default -Infinity */
  readonly atLeast?: number
}

/** What a scenario measured. */
export interface Outcome {
  readonly figures: Readonly<Record<string, number>>
  readonly bars: readonly Bar[]
}

/** Something that happens to a cluster, and what must hold then. */
export interface Scenario {
  readonly name: string
  readonly title: string
  readonly run: (servers: Servers) => Promise<Outcome>
}

/** A bar that allows one value. */
export const exactly = (name: string, is: number, value: number): Bar => ({ name, is, atMost: value, atLeast: value })

/** Whether a bar is met. */
export const isMet = ({ is, atMost, atLeast = -Infinity }: Bar): boolean => is <= atMost && is >= atLeast

const toText = (value: number): string =>
  Number.isInteger(value) ? value.toLocaleString('en') : value.toFixed(Math.abs(value) < 1 ? 4 : 1)

const formatBar = (bar: Bar): string => {
  const { name, is, atMost, atLeast } = bar
  const bounds =
    atMost === atLeast
      ? `must be ${toText(atMost)}`
      : `${atLeast === undefined ? '' : `at least ${toText(atLeast)}, `}at most ${toText(atMost)}`
  return `  ${isMet(bar) ? 'ok   ' : 'WRONG'} ${name}: ${toText(is)} (${bounds})`
}

/** Formats an outcome as lines of text. */
export const formatOutcome = ({ figures, bars }: Outcome): string => {
  const list = Object.entries(figures).map(([name, value]) => `${name} ${toText(value)}`)
  return [`  ${list.join(', ')}`, ...bars.map(formatBar)].join('\n')
}

/** The figures of the table at the end of a run. */
const columns = [
  'granted',
  'over',
  'lost',
  'failed',
  'commits a call',
  'rows a call',
  'round trips a call',
  'slowest ms',
]

/** Formats outcomes as a table: a row for each scenario, by name. */
export const formatTable = (outcomes: ReadonlyMap<string, Outcome>): string => {
  const rows = [
    ['scenario', ...columns, 'bars'],
    ...[...outcomes].map(([name, { figures, bars }]) => [
      name,
      ...columns.map((column) => {
        const value = figures[column]
        return value === undefined ? '' : toText(value)
      }),
      bars.every(isMet) ? 'ok' : 'WRONG',
    ]),
  ]
  const widths = ['', ...columns, ''].map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ')).join('\n')
}
