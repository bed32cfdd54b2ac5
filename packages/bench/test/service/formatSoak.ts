import type { Bar } from '../scale/scenario.ts'
import type { ServiceSoakResult } from './runServiceSoak.ts'

/** A run of `npm run measure -- soak:service`. */
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
    'Three processes of `keyrail serve` on PostgreSQL and Redis, with two nodes, under 100 calls a second of seven accounts. A balancer sends calls to instances whose `/readyz` responds with 200. One fault follows another: instances are killed, restarted and replaced by the previous build; configs are reloaded and rejected; Redis and PostgreSQL hang, are slow, are lost, and Redis starts again empty; nodes hang, fail and are lost. Every call has a result of its own, so a lost or swapped response is found. Written by `npm run measure -- soak:service`.',
    '',
    `\`npm run measure -- soak:service --minutes ${minutes} --seed ${seed}\`, ${date}, Node ${nodeVersion}.`,
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
    '## Kills',
    '',
    'A killed instance loses what it had not written: its last half second, and what it was writing. The load reads `keyrail_metering_lag_seconds` just before a kill, and the calls that ended later than that, or were in flight, are _counts that kills may lose_. If Redis loses its data after a kill, a limit may be exceeded by these: [limits](../../docs/service/guarantees.md#cluster). The first row leaves that out; _units over a limit_ includes it.',
    '',
    '## Memory',
    '',
    'One instance runs from beginning to end, with the environment of [sizing](../../docs/service/sizing.md#memory). After each round of all faults its garbage is collected, and what is left must not grow: heap, and resident memory. It grows a little in the first rounds, by less each time, and then stays the same. Between collections resident memory goes up and down, because V8 gives young objects from 4 to 67 MB, as the load needs it.',
    '',
    'Without `MALLOC_TRIM_THRESHOLD_`, an instance had 242 MB resident after the first collection and 247 MB at the end of 14 minutes with seed 2501, 115 MB of it in the arenas of glibc, from the first minute on.',
    '',
  ].join('\n')
}
