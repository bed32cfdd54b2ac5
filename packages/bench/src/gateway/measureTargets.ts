import { startServer } from '../server/startServer.ts'
import { batch, single, threeMethods } from './bodies.ts'
import type { Load } from './load.ts'
import { startCollector } from './startCollector.ts'
import { startTarget } from './startTarget.ts'
import type { RunningTarget, Slice } from './startTarget.ts'

// Run by measureFigures. Arguments: the number of rounds, and the row.

const SECONDS = 1
const WARM_UP_SECONDS = 3

const server = await startServer()
const collector = await startCollector()
const opened: RunningTarget[] = []
const open = async (name: string, program?: 'manyKeys' | 'cluster'): Promise<RunningTarget> => {
  const target = await startTarget(name, server.url, { program, collector: collector.url })
  opened.push(target)
  return target
}

/** A target and the load that it gets. */
interface Subject {
  readonly target: RunningTarget
  /** @default the URL of the target */
  readonly url: string | undefined
  readonly load: Load
  /** Whether it rejects the requests. */
  readonly rejects: boolean
}

/** The kinds of requests that are not rejected. */
const served = new Set(['accepted', 'traced'])

const toSubject = (
  target: RunningTarget,
  bodies: readonly string[],
  kind = 'accepted',
  more: Partial<Load> = {},
): Subject => ({
  target,
  url: target.target.urls?.[kind],
  load: { paths: target.target.paths[kind] ?? [], bodies, headers: target.target.headers?.[kind] ?? {}, ...more },
  rejects: !served.has(kind),
})

const slice = async ({ target, url, load, rejects }: Subject, seconds: number): Promise<Slice> => {
  const seen = await target.slice(load, seconds, url)
  // Otherwise the figure would not be what its row says.
  const wrong = rejects ? seen.requests - seen.rejected : seen.rejected
  if (seen.requests === 0 || seen.lost > 0 || wrong > seen.requests / 1_000)
    throw new Error(`a slice went wrong: ${JSON.stringify(seen)}`)
  return seen
}

/** Measures slices of each subject, in alternating order, so that slow changes affect all subjects equally. */
async function measureSlices<Name extends string>(
  subjects: Readonly<Record<Name, Subject>>,
  rounds: number,
): Promise<readonly Readonly<Record<Name, Slice>>[]> {
  const names = Object.keys(subjects) as Name[]
  for (const name of names) await slice(subjects[name], WARM_UP_SECONDS)
  const all: Record<Name, Slice>[] = []
  for (let round = 0; round < rounds; round++) {
    const seen = {} as Record<Name, Slice>
    for (const name of round % 2 ? names.toReversed() : names) seen[name] = await slice(subjects[name], SECONDS)
    all.push(seen)
  }
  return all
}

type Figures = Record<string, readonly number[]>

/** Compares single calls to a service with a process that only forwards them. */
const measureSingle = async (name: string, program: 'cluster' | undefined, rounds: number): Promise<Figures> => {
  const subjects = {
    floor: toSubject(await open('floor'), single),
    gateway: toSubject(await open(name, program), single),
    again: toSubject(await open('floor'), single),
  }
  const seen = await measureSlices(subjects, rounds)
  return {
    ratio: seen.map(({ floor, gateway }) => gateway.cpuUs / floor.cpuUs),
    control: seen.map(({ floor, again }) => again.cpuUs / floor.cpuUs),
    floor: seen.map(({ floor }) => floor.cpuUs),
    gateway: seen.map(({ gateway }) => gateway.cpuUs),
  }
}

/** Comparisons per round: with more and shorter pairs, other load on the machine affects both sides more equally. */
const PAIRS = 3

/** Compares a service that traces every hundredth request with slices before and after it of one that traces none. */
const measureTracing = async (rounds: number): Promise<Figures> => {
  const target = await open('tracing')
  const subjects = {
    untraced: toSubject(target, single),
    traced: toSubject(target, single, 'traced'),
    again: toSubject(target, single),
  }
  const seen = await measureSlices(subjects, rounds * PAIRS)
  return {
    ratio: seen.map(({ untraced, traced, again }) => (2 * traced.cpuUs) / (untraced.cpuUs + again.cpuUs)),
    control: seen.map(({ untraced, again }) => again.cpuUs / untraced.cpuUs),
    untraced: seen.map(({ untraced }) => untraced.cpuUs),
    traced: seen.map(({ traced }) => traced.cpuUs),
  }
}

const measures: Readonly<Record<string, (rounds: number) => Promise<Figures>>> = {
  single: (rounds) => measureSingle('service', undefined, rounds),
  cluster: (rounds) => measureSingle('serviceOnStores', 'cluster', rounds),
  tracing: measureTracing,
  batch: async (rounds) => {
    const subjects = {
      floor: toSubject(await open('floorParsing'), batch),
      gateway: toSubject(await open('service'), batch),
      again: toSubject(await open('floorParsing'), batch),
      single: toSubject(await open('floor'), single),
    }
    const seen = await measureSlices(subjects, rounds)
    return {
      ratio: seen.map(({ floor, gateway }) => gateway.cpuUs / floor.cpuUs),
      item: seen.map((one) => one.gateway.cpuUs / 100 / one.single.cpuUs),
      control: seen.map(({ floor, again }) => again.cpuUs / floor.cpuUs),
      floor: seen.map(({ floor }) => floor.cpuUs),
      gateway: seen.map(({ gateway }) => gateway.cpuUs),
      single: seen.map((one) => one.single.cpuUs),
    }
  },
  lone: async (rounds) => {
    const alone = { connections: 1 }
    const subjects = {
      floor: toSubject(await open('floor'), single, 'accepted', alone),
      gateway: toSubject(await open('service'), single, 'accepted', alone),
      again: toSubject(await open('floor'), single, 'accepted', alone),
    }
    const seen = await measureSlices(subjects, rounds)
    return {
      ratio: seen.map(({ floor, gateway }) => gateway.p50Ms / floor.p50Ms - 1),
      control: seen.map(({ floor, again }) => again.p50Ms / floor.p50Ms),
      floor: seen.map(({ floor }) => floor.p50Ms * 1_000),
      gateway: seen.map(({ gateway }) => gateway.p50Ms * 1_000),
    }
  },
  manyKeys: async (rounds) => {
    const subjects = {
      unmetered: toSubject(await open('manyKeysUnmetered', 'manyKeys'), threeMethods),
      metered: toSubject(await open('manyKeys', 'manyKeys'), threeMethods),
      again: toSubject(await open('manyKeysUnmetered', 'manyKeys'), threeMethods),
    }
    const seen = await measureSlices(subjects, rounds)
    return {
      ratio: seen.map(({ unmetered, metered }) => metered.p99Ms / unmetered.p99Ms),
      control: seen.map(({ unmetered, again }) => again.p99Ms / unmetered.p99Ms),
      stall: seen.map(({ metered }) => metered.stallMs),
      stallUnmetered: seen.map(({ unmetered }) => unmetered.stallMs),
    }
  },
  storedKeys: async (rounds) => {
    const few = await open('fewStored', 'manyKeys')
    const million = await open('millionStored', 'manyKeys')
    const { rssMb } = await million.used()
    const subjects = {
      few: toSubject(few, threeMethods),
      million: toSubject(million, threeMethods),
      again: toSubject(few, threeMethods),
    }
    const seen = await measureSlices(subjects, rounds)
    return {
      ratio: seen.map((one) => one.few.requests / one.million.requests),
      control: seen.map((one) => one.again.requests / one.few.requests),
      growth: [Math.max(...seen.map((one) => one.million.rssMb)) - rssMb],
    }
  },
  rejections: async (rounds) => {
    const target = await open('service')
    const subjects = {
      accepted: toSubject(target, single),
      unknown: toSubject(target, single, 'unknown'),
      limited: toSubject(target, single, 'limited'),
      overQuota: toSubject(target, single, 'overQuota'),
      badJwt: toSubject(target, single, 'badJwt'),
      again: toSubject(target, single),
    }
    const seen = await measureSlices(subjects, rounds)
    const beside = (name: keyof typeof subjects): readonly number[] =>
      seen.map((one) => one[name].cpuUs / one.accepted.cpuUs)
    return {
      unknown: beside('unknown'),
      limited: beside('limited'),
      overQuota: beside('overQuota'),
      badJwt: beside('badJwt'),
      control: beside('again'),
      accepted: seen.map(({ accepted }) => accepted.cpuUs),
    }
  },
}

const [, , rounds = '1', row = ''] = process.argv
try {
  const measure = measures[row]
  if (measure === undefined) throw new Error(`there is no row '${row}'`)
  process.stdout.write(JSON.stringify(await measure(Number(rounds))))
} finally {
  for (const target of opened) target.stop()
  server.stop()
  collector.stop()
}
