import { writeSync } from 'node:fs'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { LimitGrant, LimitRequest } from '@keyrail/gateway/test/internal.ts'
import type { ClusterInstance } from '@keyrail/gateway/test/usage/clusterInstance.ts'

/** What the clients of one instance send. */
export interface Load {
  /** How many users there are: each has an account of its own. */
  readonly users: number
  /** The daily limit of each user, in units. */
  readonly perDay: number
  /** The maximum number of requests of this instance. `stop` ends it earlier. */
  readonly requests: number
  /** Clients of this instance: each sends a request after the other. */
  readonly clients: number
  /** Requests a second of this instance instead: they are sent on time, whether others have got a response or not. */
  readonly perSecond?: number
  /** The users send one after the other, from this one on. @default any user sends */
  readonly firstUser?: number
  readonly rate?: { readonly perSecond: number; readonly burst: number }
  /** Calls of each request. @default 1 */
  readonly calls?: number
  /** Returns the first grant of each n-th user. @default 0, for none */
  readonly returnEvery?: number
  /** How long a client waits after a request, in milliseconds. @default 0 */
  readonly pauseMs?: number
  /** Writes a byte per granted unit to file descriptor 3, at once. @default false */
  readonly acknowledge?: boolean
}

/** What the clients of one instance got. */
export interface Report {
  /** Requests that got a response. */
  readonly requests: number
  /** Units that were granted and not returned. */
  readonly granted: number
  readonly returned: number
  /** Requests that were rejected because the quota is used up. */
  readonly rejected: number
  /** Requests that got an error: the 503 of the service. */
  readonly failed: number
  /** The longest time of a request, in milliseconds. */
  readonly slowestMs: number
  /** The units of each user. */
  readonly byUser: Int32Array
  /** Commands that were sent to Redis. */
  readonly commands: number
  /** Accounts that were read from the ledger. */
  readonly seeds: number
}

/** The id of a quota, as long as the ids of the service. */
const toQuotaId = (user: number): string => `user:usr_${String(user).padStart(20, '0')}`

/** Waits this long after an error, in milliseconds. */
const retryMs = 20

const acknowledge = (units: number): void => {
  for (;;) {
    try {
      writeSync(3, '.'.repeat(units))
      return
    } catch (error) {
      // The pipe is full: its reader is busy.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
}

/** Load that can be stopped. */
export interface RunningLoad {
  readonly done: Promise<Report>
  /** The report so far. */
  readonly report: () => Report
  /** Sends no more requests; `done` resolves once all have a response. */
  readonly stop: () => void
}

/** Sends requests to an instance. */
export const startLoad = ({ limits, meter, commands, seeds }: ClusterInstance, load: Load): RunningLoad => {
  const { users, perDay, requests: most, clients, rate, calls = 1, returnEvery = 0, pauseMs = 0, firstUser } = load
  const byUser = new Int32Array(users)
  const before = { commands: commands(), seeds: seeds() }
  const totals = { requests: 0, granted: 0, returned: 0, rejected: 0, failed: 0, slowestMs: 0 }
  const returnedUsers = new Set<number>()
  let sent = 0
  let isStopped = false

  const createRequest = (user: number): LimitRequest => ({
    id: `key_${String(user).padStart(20, '0')}`,
    rate,
    quota: { id: toQuotaId(user), perDay, perMonth: null },
    calls,
    passed: calls,
  })
  const countGrant = (user: number, { quota }: LimitGrant): void => {
    const charged = quota?.charged ?? 0
    const granted = quota?.granted ?? 0
    const isReturned = returnEvery > 0 && charged > 0 && user % returnEvery === 0 && !returnedUsers.has(user)
    if (quota !== undefined && isReturned) {
      returnedUsers.add(user)
      limits.giveBack(quota, charged)
      totals.returned += charged
    } else {
      totals.granted += charged
      byUser[user] = (byUser[user] ?? 0) + charged
    }
    const key = { id: `key_${user}`, userId: `usr_${user}` }
    if (granted > 0) meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1, granted)
    if (granted < calls) {
      totals.rejected += 1
      meter.count(key, 'mainnet', 'eth_call', 'quota_exceeded', 1, calls - granted)
    }
    if (load.acknowledge === true && charged > 0) acknowledge(charged)
  }

  /** @returns Whether the request waited for Redis. */
  const sendOne = async (): Promise<boolean> => {
    const user = firstUser === undefined ? Math.floor(Math.random() * users) : (firstUser + sent) % users
    sent += 1
    const startedAt = performance.now()
    let isAsync = true
    try {
      const taken = limits.take(createRequest(user))
      isAsync = taken instanceof Promise
      countGrant(user, taken instanceof Promise ? await taken : taken)
    } catch {
      totals.failed += 1
      await wait(retryMs)
    }
    totals.requests += 1
    totals.slowestMs = Math.max(totals.slowestMs, performance.now() - startedAt)
    return isAsync
  }
  const client = async (): Promise<void> => {
    while (!isStopped && sent < most) {
      // A request that is decided in this process must not keep the others waiting.
      if (!(await sendOne())) await nextTurn()
      if (pauseMs > 0) await wait(pauseMs)
    }
  }
  const sendOnTime = async (perSecond: number): Promise<void> => {
    const startedAt = performance.now()
    const inFlight = new Set<Promise<unknown>>()
    while (!isStopped && sent < most) {
      const due = ((performance.now() - startedAt) * perSecond) / 1_000
      while (sent < Math.min(due, most)) {
        const one = sendOne().finally(() => inFlight.delete(one))
        inFlight.add(one)
      }
      await wait(5)
    }
    await Promise.all(inFlight)
  }

  const report = (): Report => ({
    ...totals,
    byUser,
    commands: commands() - before.commands,
    seeds: seeds() - before.seeds,
  })
  const running =
    load.perSecond === undefined ? Promise.all(Array.from({ length: clients }, client)) : sendOnTime(load.perSecond)
  return {
    done: running.then(report),
    report,
    stop: () => {
      isStopped = true
    },
  }
}
