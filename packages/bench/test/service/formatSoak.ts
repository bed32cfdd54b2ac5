import type { Bar } from '../scale/scenario.ts'
import type { ServiceSoakResult } from './runServiceSoak.ts'

/** A run of `npm run soak:service`. */
export interface SoakRun extends Omit<ServiceSoakResult, 'problems'> {
  readonly minutes: number
  readonly seed: number
  /** Such as `2026-11-23`. */
  readonly date: string
  /** Such as `24.21.0`. */
  readonly nodeVersion: string
}

const toText = (value: number): string => Math.round(value).toLocaleString('en')
const toBounds = ({ atLeast, atMost }: Bar): string =>
  atLeast === undefined || atLeast === atMost ? toText(atMost) : `${toText(atLeast)} to ${toText(atMost)}`

/** Formats a run as the text of `packages/bench/SOAK.md`. */
export const formatSoak = ({ minutes, seed, date, nodeVersion, figures, bars, outcomes }: SoakRun): string => {
  const sorted = [...outcomes].toSorted(([, a], [, b]) => b - a)
  return [
    '# Half an hour of faults',
    '',
    'Three processes of `keyrail serve` on PostgreSQL and Redis, with two nodes, under 100 calls a second of seven accounts. A balancer sends calls to instances whose `/readyz` responds with 200. One fault follows another: instances are killed, restarted and replaced by the previous build; configs are reloaded and rejected; Redis and PostgreSQL hang, are slow, are lost, and Redis starts again empty; nodes hang, fail and are lost. Every call has a result of its own, so a lost or swapped response is found. Written by `npm run soak:service`.',
    '',
    `\`npm run soak:service -- --minutes ${minutes} --seed ${seed}\`, ${date}, Node ${nodeVersion}.`,
    '',
    '| checked | measured | allowed |',
    '| --- | ---: | ---: |',
    ...bars.map((bar) => `| ${bar.name} | ${toText(bar.is)} | ${toBounds(bar)} |`),
    '',
    'Each call ended in one of these ways. Errors came only while a fault lasted that causes them:',
    '',
    '| outcome | calls |',
    '| --- | ---: |',
    ...sorted.map(([outcome, count]) => `| ${outcome} | ${toText(count)} |`),
    '',
    '| figure | |',
    '| --- | ---: |',
    ...Object.entries(figures).map(([name, value]) => `| ${name} | ${toText(value)} |`),
    '',
    'If Redis loses its data after an instance was killed, a limit may be exceeded by what that instance had not written: [limits](../../docs/service/limits.md#cluster). The first row leaves that out; _units over a limit_ has it.',
    '',
  ].join('\n')
}
