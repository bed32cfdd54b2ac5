import { countFitting, getCost } from '../limits/quotaCounter.ts'
import type { RateDecision, RateLimits } from './rateDecision.ts'
import type { LeaseReply, LeaseRequest } from './rateLease.ts'
import { toRateDecision, unitsPerToken } from './tokenBucket.ts'

/*
 * The lease of one key in a worker: its tokens, and what it knows of the bucket in the primary. It sends nothing: `createLeasedRates` does.
 */

/** The tokens that a worker has of one key. */
export interface WorkerLease {
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
  maxAhead: number
  /** How many tokens are returned only after a longer time without use. */
  spared: number
  /** When tokens were requested last. */
  requestedAt: number
  /** The request in flight; `queued` if it has not been sent yet. */
  request: 'queued' | { readonly limits: RateLimits; readonly wanted: number; readonly least: number } | undefined
  /** The spent units of the bucket, with all that was leased, at `spentAt`. */
  spent: number
  spentAt: number
  /** Before this, the bucket has too little for calls that cost `scarceFrom` or more. */
  retryAt: number
  scarceFrom: number
}

/** The calls of one request. */
export interface WantedCalls {
  readonly calls: number
  readonly weights: readonly number[] | undefined
  readonly cost: number
  /** The cost of the first call. */
  readonly least: number
}

/** How long a lease may be unused, in milliseconds, if the bucket does not refill sooner. */
const maxIdleMs = 1_000
/** How long the small part of it may that spares keys with few calls a message for each, in milliseconds. */
const sparedMs = 10_000
/** A lease of which half lasts less than this is too small, and is renewed at once, in milliseconds. Others are renewed with the next report. */
const maxShortMs = 1_000
const firstAhead = 8
/** How long a worker rejects calls after the bucket was empty before it requests tokens again, in milliseconds: it then gets several at once. */
const pauseMs = 10

/** Most tokens in advance: all workers together half of a burst. */
const getMaxAhead = ({ burst }: RateLimits, workers: number): number => Math.floor(burst / (2 * workers))

/** How many tokens are leased in advance at first. A bucket that refills within a second can spare some only while its key is busy. */
const getFirstAhead = (limits: RateLimits, workers: number): number =>
  limits.burst < limits.perSecond ? 0 : Math.min(firstAhead, getMaxAhead(limits, workers))

/** How many tokens may be unused for longer: of all workers together a 32nd of a burst. */
const getSpared = ({ perSecond, burst }: RateLimits, workers: number): number =>
  burst < perSecond ? 0 : Math.floor(burst / (32 * workers))

/** In how many milliseconds an empty bucket is full. */
const getRefillMs = ({ perSecond, burst }: RateLimits): number => (burst * 1_000) / perSecond

/** Creates a lease without tokens. */
export const createLease = (id: string, limits: RateLimits, workers: number): WorkerLease => ({
  id,
  limits,
  held: 0,
  used: 0,
  returned: 0,
  usedAt: -Infinity,
  ahead: getFirstAhead(limits, workers),
  maxAhead: getMaxAhead(limits, workers),
  spared: getSpared(limits, workers),
  requestedAt: -Infinity,
  request: undefined,
  spent: 0,
  spentAt: 0,
  retryAt: -Infinity,
  scarceFrom: 1,
})

/** Applies other limits. */
export const changeLimits = (lease: WorkerLease, limits: RateLimits, workers: number): void => {
  lease.limits = limits
  lease.ahead = getFirstAhead(limits, workers)
  lease.maxAhead = getMaxAhead(limits, workers)
  lease.spared = getSpared(limits, workers)
  lease.retryAt = -Infinity
}

/** Marks the tokens that can be granted as to be returned, except for `retained`. @returns Whether there are any. */
export const returnHeld = (lease: WorkerLease, retained = 0): boolean => {
  const returned = lease.held - retained
  if (returned <= 0) return false
  lease.returned += returned
  lease.held = retained
  return true
}

const toDecision = (
  lease: WorkerLease,
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

/** Returns what one call would get. */
export const peekHeld = (lease: WorkerLease, time: number): RateDecision => {
  const isEmpty = lease.held === 0 && time < lease.retryAt && lease.scarceFrom === 1
  return toDecision(lease, { calls: 1, weights: undefined }, isEmpty ? 0 : 1, time)
}

/** Grants calls what fits into the lease. @returns `undefined` if the primary may have more for them. */
export const takeHeld = (lease: WorkerLease, wanted: WantedCalls, time: number): RateDecision | undefined => {
  const { calls, weights, cost, least } = wanted
  // More than a burst is never granted.
  const isFit = Math.min(cost, lease.limits.burst) <= lease.held
  const isScarce = time < lease.retryAt && least >= lease.scarceFrom
  if (!isFit && !isScarce) return undefined
  const granted = cost <= lease.held ? calls : countFitting(calls, weights, lease.held)
  const decision = toDecision(lease, wanted, granted, time)
  const taken = getCost(granted, weights)
  if (taken === 0) return decision
  lease.held -= taken
  lease.used += taken
  lease.usedAt = time
  return decision
}

/** Whether use is reported at once: a token is refilled only after the report. */
export const isReportDue = ({ used, maxAhead }: WorkerLease): boolean => used > maxAhead

/** Whether more tokens are requested before the lease is used up. */
export const isRunningLow = ({ held, ahead, retryAt }: WorkerLease, time: number): boolean =>
  held * 2 < ahead && time >= retryAt

/** Whether they are requested at once, because the lease may be used up before the next report. */
export const isRunningOut = (lease: WorkerLease, time: number): boolean =>
  isRunningLow(lease, time) && time - lease.requestedAt < maxShortMs

const getUnusedMs = ({ usedAt, requestedAt }: WorkerLease, time: number): number => time - Math.max(usedAt, requestedAt)

/** Whether the lease has not been used for a while. */
export const isIdle = (lease: WorkerLease, time: number): boolean =>
  getUnusedMs(lease, time) >= Math.min(maxIdleMs, getRefillMs(lease.limits))

/** Whether nothing of an idle lease is retained any longer. */
export const isOver = (lease: WorkerLease, time: number): boolean =>
  lease.spared === 0 || getUnusedMs(lease, time) >= sparedMs

/** Starts a request: `toRequest` sends it. The shorter the last one has lasted, the more is leased in advance. */
export const startRequest = (lease: WorkerLease, workers: number, time: number): void => {
  const sinceMs = time - lease.requestedAt
  const shortMs = Math.min(maxShortMs, getRefillMs(lease.limits) / 2)
  if (sinceMs < shortMs) lease.ahead = Math.min(lease.maxAhead, Math.max(1, lease.ahead * 2))
  else if (sinceMs > 4 * shortMs) lease.ahead = Math.max(getFirstAhead(lease.limits, workers), lease.ahead >> 1)
  lease.request = 'queued'
  lease.requestedAt = time
}

/**
 * Takes what a lease has to report and to request.
 * @param waiting - The calls that wait for tokens.
 */
export const toRequest = (lease: WorkerLease, waiting: readonly WantedCalls[], time: number): LeaseRequest => {
  const { id, limits, held, used, returned, usedAt, ahead } = lease
  lease.used = 0
  lease.returned = 0
  const report = { id, limits, used, usedAgoMs: used === 0 ? 0 : Math.floor(time - usedAt), returned }
  if (lease.request !== 'queued') return { ...report, wanted: 0, least: 0 }
  let cost = 0
  for (const one of waiting) cost += one.cost
  const wanted = Math.max(1, Math.min(limits.burst, Math.max(0, cost - held) + ahead))
  const least = waiting[0]?.least ?? 1
  lease.request = { limits, wanted, least }
  return { ...report, wanted, least: Math.max(1, least - held) }
}

/** Applies the reply to the request in flight. @returns `false` if there is none. */
export const applyReply = (lease: WorkerLease, { leased, spent, retryAfterMs }: LeaseReply, time: number): boolean => {
  const { limits, request } = lease
  if (request === undefined || request === 'queued') return false
  lease.request = undefined
  // The limits have changed since: tokens of the former ones are not granted.
  if (request.limits !== limits) {
    lease.returned += leased
    return true
  }
  lease.held += leased
  lease.spent = spent
  lease.spentAt = time
  const shortestMs = Math.min(pauseMs, getRefillMs(limits) / 4)
  if (leased === 0) {
    lease.scarceFrom = request.least
    lease.retryAt = time + Math.max(shortestMs, retryAfterMs)
  } else if (leased < request.wanted) {
    lease.scarceFrom = 1
    lease.retryAt = time + shortestMs
  } else lease.retryAt = -Infinity
  return true
}
