import { StorageError } from '../../errors/storageError.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { getCost } from '../limits/quotaCounter.ts'
import type { RateDecision, RateLimits } from './rateDecision.ts'
import type { LeaseReply, LeaseRequest, Rates } from './rateLease.ts'
import { toRateDecision } from './tokenBucket.ts'
import {
  applyReply,
  changeLimits,
  createLease,
  isIdle,
  isOver,
  isReportDue,
  isRunningLow,
  isRunningOut,
  peekHeld,
  returnHeld,
  startRequest,
  takeHeld,
  toRequest,
} from './workerLease.ts'
import type { WantedCalls, WorkerLease } from './workerLease.ts'

/** The rates of a worker. */
export interface LeasedRates extends Rates {
  /** Takes the replies of the primary. */
  handle(replies: readonly LeaseReply[]): void
  /** Returns all leases, and rejects the calls that wait. */
  close(): void
}

/** Options of {@link createLeasedRates}. */
export interface LeasedRatesOptions {
  /** Sends requests to the primary, which receives them in order. */
  readonly send: (requests: readonly LeaseRequest[]) => void
  /** How many workers there are: together they lease at most half of a burst in advance. */
  readonly workers: number
  /** A monotonic clock in milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined
  /** How long calls wait for the primary, in milliseconds. @default 2_000 */
  readonly patienceMs?: number | undefined
  /** Runs work after the current turn. @default setImmediate */
  readonly schedule?: ((work: () => void) => void) | undefined
  /** Runs work again and again. @returns Stops it. @default setInterval, without keeping the process alive */
  readonly repeat?: ((work: () => void, everyMs: number) => () => void) | undefined
}

/** Calls that wait for tokens. */
interface Waiting extends WantedCalls {
  readonly since: number
  readonly resolve: (decision: RateDecision) => void
  readonly reject: (error: Error) => void
}

/** A lease, and the calls that wait for it, oldest first. */
interface Account extends WorkerLease {
  waiting: Waiting[]
}

/** How often use is reported and idle leases are returned, in milliseconds. */
const tickMs = 250

/**
 * Creates the rates of a worker. It grants calls from its lease, and waits for the primary only if that is used up. While a bucket is empty it
 * rejects calls without a message.
 */
export const createLeasedRates = (options: LeasedRatesOptions): LeasedRates => {
  const { send, workers, now = monotonicClock(), patienceMs = 2_000, schedule = setImmediate } = options
  const { repeat = repeatInBackground } = options
  const accounts = new Map<string, Account>()
  /** Accounts with something to send. */
  const outbox = new Set<Account>()
  let isScheduled = false
  let closed = false

  const flush = (): void => {
    isScheduled = false
    if (outbox.size === 0) return
    const time = now()
    const requests = [...outbox].map((account) => toRequest(account, account.waiting, time))
    outbox.clear()
    send(requests)
  }

  const queue = (account: Account): void => {
    outbox.add(account)
    if (isScheduled) return
    isScheduled = true
    schedule(flush)
  }

  const giveBack = (account: Account, retained = 0): void => {
    if (returnHeld(account, retained)) queue(account)
  }

  /** Requests tokens. One request of an account is in flight at a time. */
  const request = (account: Account, time: number): void => {
    if (account.request !== undefined) return
    startRequest(account, workers, time)
    queue(account)
  }

  const take = (account: Account, wanted: WantedCalls, time: number): RateDecision | undefined => {
    const decision = takeHeld(account, wanted, time)
    if (decision === undefined) return undefined
    if (isReportDue(account)) queue(account)
    else if (isRunningOut(account, time)) request(account, time)
    return decision
  }

  /** Decides on waiting calls after a reply. */
  const serve = (account: Account, time: number): void => {
    let decided = 0
    for (const one of account.waiting) {
      const decision = take(account, one, time)
      if (decision === undefined) break
      one.resolve(decision)
      // Other workers may have calls that need fewer tokens.
      if (decision.granted === 0) giveBack(account)
      decided += 1
    }
    account.waiting.splice(0, decided)
    if (account.waiting.length > 0) request(account, time)
  }

  const closedError = (): StorageError => new StorageError('the limits are closed', { fault: 'unavailable' })
  const tooSlow = (): StorageError =>
    new StorageError('the primary process did not respond in time', { fault: 'unavailable' })

  const tick = (): void => {
    const time = now()
    const isDue = ({ since }: Waiting): boolean => time - since >= patienceMs
    for (const [id, account] of accounts) {
      for (const late of account.waiting.filter(isDue)) late.reject(tooSlow())
      account.waiting = account.waiting.filter((one) => !isDue(one))
      const idle = isIdle(account, time)
      const over = idle && isOver(account, time)
      if (idle) giveBack(account, over ? 0 : account.spared)
      else if (isRunningLow(account, time)) request(account, time)
      if (account.used > 0) queue(account)
      else if (over && !outbox.has(account) && account.request === undefined && time >= account.retryAt)
        accounts.delete(id)
    }
  }
  const stopTicks = repeat(tick, tickMs)

  const getAccount = (id: string, limits: RateLimits): Account => {
    let account = accounts.get(id)
    if (account === undefined) {
      account = { ...createLease(id, limits, workers), waiting: [] }
      accounts.set(id, account)
    }
    const { perSecond, burst } = account.limits
    if (perSecond !== limits.perSecond || burst !== limits.burst) {
      giveBack(account)
      changeLimits(account, limits, workers)
    }
    return account
  }

  return {
    take: (id, limits, calls, weights) => {
      if (closed) return Promise.reject(closedError())
      const time = now()
      const account = getAccount(id, limits)
      const wanted = { calls, weights, cost: getCost(calls, weights), least: getCost(1, weights) }
      const decision = account.waiting.length === 0 ? take(account, wanted, time) : undefined
      if (decision !== undefined) return decision
      return new Promise((resolve, reject) => {
        account.waiting.push({ ...wanted, since: time, resolve, reject })
        request(account, time)
      })
    },
    peek: (id, limits) => {
      const account = accounts.get(id)
      return account === undefined
        ? toRateDecision(0, limits, { calls: 1, weights: undefined, granted: 1 })
        : peekHeld(account, now())
    },
    handle: (replies) => {
      const time = now()
      for (const reply of replies) {
        const account = accounts.get(reply.id)
        if (account === undefined || !applyReply(account, reply, time)) continue
        if (account.returned > 0) queue(account)
        serve(account, time)
      }
    },
    close: () => {
      if (closed) return
      closed = true
      stopTicks()
      for (const account of accounts.values()) {
        for (const { reject } of account.waiting.splice(0)) reject(closedError())
        giveBack(account)
        if (account.used > 0) outbox.add(account)
      }
      flush()
    },
  }
}

const repeatInBackground = (work: () => void, everyMs: number): (() => void) => {
  const timer = setInterval(work, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
