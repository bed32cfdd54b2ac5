import { statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import type { InstanceView } from '../control/contract/controlApi.d.ts'
import { isoTime } from '../control/views/times.ts'
import type { GatewayLoad } from '../proxy/gatewayLoad.ts'
import type { MeterStatus } from '../usage/metering/meter.ts'
import type { CallRates, CallSeries } from './createCallRates.ts'
import type { RecentEvents } from './createRecentEvents.ts'
import type { StoreLoad } from './metric.ts'

/** What the state of an instance is read from. */
export interface InstanceSources {
  /** Of Keyrail. */
  readonly version: string
  readonly rates: Pick<CallRates, 'read'>
  readonly events: Pick<RecentEvents, 'list' | 'config'>
  readonly stores: () => StoreLoad
  readonly load: () => GatewayLoad
  readonly metering: () => MeterStatus
  readonly droppedRequests: () => Readonly<Record<string, number>>
  readonly droppedLogLines: () => number
  /** The files of the SQLite database and the chain store; `undefined` if there is none. */
  readonly files: Readonly<Record<'database' | 'chainStore', string | undefined>>
  /** When the certificate of the config ends, in milliseconds since 1970; `null` without one. */
  readonly certificateEndsAt: () => number | null
}

const toSeries = ({ from, totals, failures }: CallSeries): InstanceView['perSecond'] => ({
  from: isoTime(from),
  totals,
  failures,
})

const toTime = (at: number | null): string | null => (at === null ? null : isoTime(at))

const addUp = (counts: Iterable<number>): number => [...counts].reduce((sum, count) => sum + count, 0)

/** Reads how much of the disk of a file is free; nothing if the system does not say. */
const readDisk = async (of: 'database' | 'chainStore', file: string | undefined): Promise<InstanceView['disks']> => {
  if (file === undefined) return []
  try {
    const { bavail, blocks, bsize } = await statfs(dirname(file))
    return [{ of, freeBytes: bavail * bsize, totalBytes: blocks * bsize }]
  } catch {
    return []
  }
}

/** Reads how full the disks of some files are. */
export const readDisks = async (files: InstanceSources['files']): Promise<InstanceView['disks']> => {
  const disks = await Promise.all((['database', 'chainStore'] as const).map((of) => readDisk(of, files[of])))
  return disks.flat()
}

const toLoad = ({ load, metering, stores }: InstanceSources): InstanceView['load'] => {
  const { connections, maxConnections, requests, queues, bufferedBytes, maxBufferedBytes } = load()
  const { backlogRows, lagMs, rollUpLagMs } = metering()
  const { pool, redisPending = null } = stores()
  return {
    connections,
    maxConnections,
    requests,
    queuedCalls: addUp(queues.map(({ queued }) => queued)),
    bufferedBytes,
    maxBufferedBytes,
    unwrittenRows: backlogRows,
    unwrittenMs: lagMs,
    rollUpLagMs,
    databaseWaiting: pool?.waiting ?? null,
    redisPending,
  }
}

/** Creates the function that reads the state of this instance: from memory, and how full its disks are. */
export const createReadInstance = (sources: InstanceSources): (() => Promise<InstanceView>) => {
  const { version, rates, events, files } = sources
  const name = hostname()
  return async () => {
    const { perSecond, perMinute, failures } = rates.read()
    const { appliedAt, rejectedAt, faults, needsRestart } = events.config()
    return {
      name,
      version,
      perSecond: toSeries(perSecond),
      perMinute: toSeries(perMinute),
      failures,
      events: events.list().map((event) => ({ ...event, at: isoTime(event.at) })),
      config: { appliedAt: isoTime(appliedAt), rejectedAt: toTime(rejectedAt), faults, needsRestart },
      stores: sources.stores().stores,
      load: toLoad(sources),
      lost: {
        calls: sources.metering().lostCalls,
        requests: addUp(Object.values(sources.droppedRequests())),
        logLines: sources.droppedLogLines(),
      },
      disks: await readDisks(files),
      certificateEndsAt: toTime(sources.certificateEndsAt()),
    }
  }
}
