import { StorageError } from '../../errors/storageError.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { countFitting, getCost } from '../limits/quotaCounter.ts'
import type { RateDecision, RateLimits } from './rateDecision.ts'
import type { LeaseReply, LeaseRequest, Rates } from './rateLease.ts'
import { toRateDecision, unitsPerToken } from './tokenBucket.ts'

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

/** The calls of one request. */
interface WantedCalls {
  readonly calls: number
  readonly weights: readonly number[] | undefined
  readonly cost: number
  /** The cost of the first call. */
  readonly least: number
}

/** Calls that wait for tokens. */
interface Waiting extends WantedCalls {
  readonly since: number
  readonly resolve: (decision: RateDecision) => void
  readonly reject: (error: Error) => void
}

/** The lease of one key. */
interface Lease {
  readonly id: string
  limits: RateLimits
  /** Tokens that can be granted. */
  held: number
  /** Tokens that were used, or that are to be returned, since the last report. */
  used: number
  returned: number
  usedAt: number
  /** How many tokens are leased in advance: more if they don't last. */
  ahead: number
  /** When tokens were requested last. */
  requestedAt: number
  /** The request in flight; `queued` if it is sent after this turn. */
  inFlight: 'queued' | { readonly wanted: number; readonly least: number } | undefined
  /** The spent units of the bucket, with all that was leased, at `spentAt`. */
  spent: number
  spentAt: number
  /** Before this, the bucket has too little for calls that cost `scarceFrom` or more. */
  retryAt: number
  scarceFrom: number
  waiting: Waiting[]
}

/** How often use is reported and idle leases are returned, in milliseconds. */
const tickMs = 250
/** How long a lease may be unused, in milliseconds. */
const idleMs = 1_000
/** A lease that lasts less than this is too small, in milliseconds. */
const shortMs = 250
const firstAhead = 8
/** How long a worker rejects calls after the bucket was empty before it asks again, in milliseconds: it then gets several tokens at once. */
const pauseMs = 10

/**
 * Creates the rates of a worker. It grants calls from its lease, and waits for the primary only if that is used up. While a bucket is empty it
 * rejects calls without a message.
 */
export const createLeasedRates = (options: LeasedRatesOptions): LeasedRates => {
  const { send, workers, now = monotonicClock(), patienceMs = 2_000, schedule = setImmediate } = options
  const { repeat = repeatInBackground } = options
  const leases = new Map<string, Lease>()
  /** Leases with something to send. */
  const outbox = new Set<Lease>()
  let isScheduled = false
  let closed = false

  /** A key whose bucket is refilled within a second cannot spare tokens. */
  const getMaxAhead = ({ perSecond, burst }: RateLimits): number =>
    burst < perSecond ? 0 : Math.floor(burst / (2 * workers))

  const createLease = (id: string, limits: RateLimits): Lease => ({
    id,
    limits,
    held: 0,
    used: 0,
    returned: 0,
    usedAt: -Infinity,
    ahead: Math.min(firstAhead, getMaxAhead(limits)),
    requestedAt: -Infinity,
    inFlight: undefined,
    spent: 0,
    spentAt: 0,
    retryAt: -Infinity,
    scarceFrom: 1,
    waiting: [],
  })

  const flush = (): void => {
    isScheduled = false
    if (outbox.size === 0) return
    const time = now()
    const requests = [...outbox].map((lease) => toRequest(lease, time))
    outbox.clear()
    send(requests)
  }

  const queue = (lease: Lease): void => {
    outbox.add(lease)
    if (isScheduled) return
    isScheduled = true
    schedule(flush)
  }

  const returnHeld = (lease: Lease): void => {
    if (lease.held === 0) return
    lease.returned += lease.held
    lease.held = 0
    queue(lease)
  }

  /** Requests tokens. One request of a lease is in flight at a time. */
  const request = (lease: Lease, time: number): void => {
    if (lease.inFlight !== undefined) return
    const maxAhead = getMaxAhead(lease.limits)
    const sinceMs = time - lease.requestedAt
    if (sinceMs < shortMs) lease.ahead = Math.min(maxAhead, lease.ahead * 2)
    else if (sinceMs > 4 * shortMs) lease.ahead = Math.min(maxAhead, Math.max(firstAhead, lease.ahead >> 1))
    lease.inFlight = 'queued'
    lease.requestedAt = time
    queue(lease)
  }

  const toDecision = (
    lease: Lease,
    { calls, weights }: Pick<WantedCalls, 'calls' | 'weights'>,
    granted: number,
    time: number,
  ): RateDecision => {
    const { limits, held, retryAt } = lease
    const refilled = Math.floor(Math.max(0, time - lease.spentAt)) * limits.perSecond
    const spent = Math.max(0, lease.spent - refilled - held * unitsPerToken)
    const decision = toRateDecision(spent, limits, { calls, weights, granted })
    return granted === calls
      ? decision
      : { ...decision, retryAfterMs: Math.max(1, decision.retryAfterMs, Math.ceil(retryAt - time)) }
  }

  /** Grants the first calls. */
  const grant = (
    lease: Lease,
    wanted: Pick<WantedCalls, 'calls' | 'weights'>,
    granted: number,
    time: number,
  ): RateDecision => {
    const decision = toDecision(lease, wanted, granted, time)
    const cost = getCost(granted, wanted.weights)
    if (cost === 0) return decision
    lease.held -= cost
    lease.used += cost
    lease.usedAt = time
    if (lease.limits.burst < lease.limits.perSecond) queue(lease)
    else if (lease.held * 2 < lease.ahead && time >= lease.retryAt) request(lease, time)
    return decision
  }

  /** Grants calls what fits into the lease. @returns `undefined` if the primary may have more for them. */
  const takeHeld = (
    lease: Lease,
    { calls, weights, cost, least }: WantedCalls,
    time: number,
  ): RateDecision | undefined => {
    // More than a burst is never granted.
    const isFit = Math.min(cost, lease.limits.burst) <= lease.held
    const isScarce = time < lease.retryAt && least >= lease.scarceFrom
    if (!isFit && !isScarce) return undefined
    const granted = cost <= lease.held ? calls : countFitting(calls, weights, lease.held)
    return grant(lease, { calls, weights }, granted, time)
  }

  /** Decides on waiting calls after a reply. */
  const serve = (lease: Lease, time: number): void => {
    let decided = 0
    for (const one of lease.waiting) {
      const decision = takeHeld(lease, one, time)
      if (decision === undefined) break
      one.resolve(decision)
      // Other workers may have calls that need fewer tokens.
      if (decision.granted === 0) returnHeld(lease)
      decided += 1
    }
    lease.waiting.splice(0, decided)
    if (lease.waiting.length > 0) request(lease, time)
  }

  const handleReply = ({ id, leased, spent, retryAfterMs }: LeaseReply, time: number): void => {
    const lease = leases.get(id)
    if (lease?.inFlight === undefined || lease.inFlight === 'queued') return
    const { limits, inFlight } = lease
    lease.inFlight = undefined
    lease.held += leased
    lease.spent = spent
    lease.spentAt = time
    const shortestMs = Math.min(pauseMs, (limits.burst * 250) / limits.perSecond)
    if (leased === 0) {
      lease.scarceFrom = inFlight.least
      lease.retryAt = time + Math.max(shortestMs, retryAfterMs)
    } else if (leased < inFlight.wanted) {
      lease.scarceFrom = 1
      lease.retryAt = time + shortestMs
    } else lease.retryAt = -Infinity
    serve(lease, time)
  }

  const closedError = (): StorageError => new StorageError('the limits are closed', { fault: 'unavailable' })
  const tooSlow = (): StorageError =>
    new StorageError('the primary process did not respond in time', { fault: 'unavailable' })

  const tick = (): void => {
    const time = now()
    for (const [id, lease] of leases) {
      const isDue = ({ since }: Waiting): boolean => time - since >= patienceMs
      for (const late of lease.waiting.filter(isDue)) late.reject(tooSlow())
      lease.waiting = lease.waiting.filter((one) => !isDue(one))
      const isIdle = time - Math.max(lease.usedAt, lease.requestedAt) >= idleMs
      if (isIdle) returnHeld(lease)
      if (lease.used > 0) queue(lease)
      else if (isIdle && !outbox.has(lease) && lease.inFlight === undefined && time >= lease.retryAt) leases.delete(id)
    }
  }
  const stopTicks = repeat(tick, tickMs)

  const getLease = (id: string, limits: RateLimits): Lease => {
    let lease = leases.get(id)
    if (lease === undefined) {
      lease = createLease(id, limits)
      leases.set(id, lease)
    }
    if (lease.limits.perSecond !== limits.perSecond || lease.limits.burst !== limits.burst) {
      lease.limits = limits
      lease.ahead = Math.min(firstAhead, getMaxAhead(limits))
      lease.retryAt = -Infinity
      returnHeld(lease)
    }
    return lease
  }

  return {
    take: (id, limits, calls, weights) => {
      if (closed) return Promise.reject(closedError())
      const time = now()
      const lease = getLease(id, limits)
      const wanted = { calls, weights, cost: getCost(calls, weights), least: getCost(1, weights) }
      const decision = lease.waiting.length === 0 ? takeHeld(lease, wanted, time) : undefined
      if (decision !== undefined) return decision
      return new Promise((resolve, reject) => {
        lease.waiting.push({ ...wanted, since: time, resolve, reject })
        request(lease, time)
      })
    },
    peek: (id, limits) => {
      const lease = leases.get(id)
      const one = { calls: 1, weights: undefined }
      if (lease === undefined) return toRateDecision(0, limits, { ...one, granted: 1 })
      const time = now()
      const isEmpty = lease.held === 0 && time < lease.retryAt && lease.scarceFrom === 1
      return toDecision(lease, one, isEmpty ? 0 : 1, time)
    },
    handle: (replies) => {
      const time = now()
      for (const reply of replies) handleReply(reply, time)
    },
    close: () => {
      if (closed) return
      closed = true
      stopTicks()
      for (const lease of leases.values()) {
        for (const { reject } of lease.waiting.splice(0)) reject(closedError())
        returnHeld(lease)
        if (lease.used > 0) outbox.add(lease)
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

/** Takes what a lease has to report and to request. */
const toRequest = (lease: Lease, time: number): LeaseRequest => {
  const { id, limits, held, used, returned, usedAt, ahead, waiting } = lease
  lease.used = 0
  lease.returned = 0
  const report = { id, limits, used, usedAgoMs: used === 0 ? 0 : Math.floor(time - usedAt), returned }
  if (lease.inFlight !== 'queued') return { ...report, wanted: 0, least: 0 }
  let cost = 0
  for (const one of waiting) cost += one.cost
  const wanted = Math.max(1, Math.min(limits.burst, Math.max(0, cost - held) + ahead))
  const least = waiting[0]?.least ?? 1
  lease.inFlight = { wanted, least }
  return { ...report, wanted, least: Math.max(1, least - held) }
}
