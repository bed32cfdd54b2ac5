import { releaseLease, takeLease } from '../../storage/lease.ts'
import type { Storage } from '../../storage/openStorage.ts'
import type { FailureLog } from './createFailureLog.ts'
import type { MeterEvent } from './meter.ts'
import { createPartitions } from './dayPartitions.ts'
import { pruneUsage } from './pruneUsage.ts'
import { rollUp } from './rollUp.ts'
import type { UsageRetention } from './usagePlan.ts'
import { readState } from './usageRows.ts'
import { hourMs } from '../../lib/time.ts'

/** The maintenance of more tables, in the rounds of that of usage. */
export interface Upkeep {
  /** Called by each instance. @param now - Milliseconds since 1970. */
  prepare(now: number): Promise<void>
  /** Removes what is past its retention. Called by one instance at a time. @param options.stopped - Called between steps; true stops. */
  prune(options: { now: number; stopped: () => boolean }): Promise<void>
}

/** The background work on stored counts. */
export interface Maintenance {
  /** How long ago the oldest hour ended that is not rolled up, in milliseconds. 0 if none is due, or if nothing was read yet. */
  getRollUpLag(): number
  /** Waits for the current step, then lets another instance roll up. Never rejects. */
  stop(): Promise<void>
}

/**
 * Rolls up usage, removes what is past its retention, and creates partitions: now and then at an interval. The instance with the lease does it.
 * The lease is a row, because a lock of a session does not hold behind PgBouncer, and a lock of a transaction ends with each step.
 * @param options.everyMs - In milliseconds; 0: never.
 * @param options.leader - Identifies this instance.
 * @param options.upkeep - More tables to maintain.
 */
export const startMaintenance = ({
  storage,
  everyMs,
  leader,
  retention,
  upkeep,
  now,
  log,
  onEvent,
}: {
  storage: Pick<Storage, 'db' | 'write'>
  everyMs: number
  leader: string
  retention: UsageRetention
  upkeep: Upkeep | undefined
  now: () => number
  log: FailureLog
  onEvent: (event: MeterEvent) => void
}): Maintenance => {
  const { db } = storage
  let isStopped = false
  /** Up to when usage is rolled up. */
  let rolledUpTo = Infinity
  const stopped = (): boolean => isStopped
  // Without a leader that is alive, another instance takes over after three rounds.
  const isLeader = (): Promise<boolean> =>
    takeLease(storage, 'usage_state', { leader, now: now(), leaseMs: 3 * everyMs })

  const steps: readonly (() => Promise<void>)[] = [
    () => (db.kind === 'postgres' ? createPartitions(db, 'usage_minutes', now()) : Promise.resolve()),
    () => rollUp(storage, { now: now(), stopped, isLeader, onEvent }),
    async () => {
      if (await isLeader()) await pruneUsage(storage, { now: now(), retention, stopped })
    },
    async () => upkeep?.prepare(now()),
    async () => {
      if (upkeep !== undefined && (await isLeader())) await upkeep.prune({ now: now(), stopped })
    },
    async () => {
      rolledUpTo = (await readState(db)).hoursTo
    },
  ]
  const runAll = async (): Promise<void> => {
    const errors: unknown[] = []
    // A step that fails does not prevent the others.
    for (const step of steps) if (!isStopped) await step().catch((error: unknown) => errors.push(error))
    if (errors.length > 0) log.failed(errors[0])
    else log.succeeded()
  }

  let running: Promise<void> | undefined
  const run = (): void => {
    running ??= runAll().finally(() => (running = undefined))
  }
  const timer = everyMs === 0 ? undefined : setInterval(run, everyMs)
  timer?.unref()
  if (everyMs > 0) run()

  return {
    getRollUpLag: () => Math.max(0, now() - (rolledUpTo + hourMs)),
    stop: async () => {
      isStopped = true
      clearInterval(timer)
      await running
      if (everyMs > 0) await releaseLease(storage, 'usage_state', leader).catch((error: unknown) => log.failed(error))
    },
  }
}
