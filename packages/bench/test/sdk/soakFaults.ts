import { failures } from '@keyrail/vectors'
import type { FailureCase } from '@keyrail/vectors'
import { raw } from '@keyrail/core/test/faultServer.ts'
import type { GetItem } from '@keyrail/core/test/faults/respondWith.ts'
import { halfOpen } from '@keyrail/core/test/faults/halfOpen.ts'
import { idFaults, faultyId } from '@keyrail/core/test/faults/faultyId.ts'
import type { Fault } from '@keyrail/core/test/faults/mixed.ts'
import { resetAt } from '@keyrail/core/test/faults/resetAt.ts'
import { slowResponse } from '@keyrail/core/test/faults/slowResponse.ts'
import { vectorFailure } from '@keyrail/core/test/faults/vectorFailure.ts'

/** A fault, and whether it rejects the call before a node sees it. */
export interface SoakFault extends Fault {
  readonly rejects: boolean
}

/** Reasons and kinds that mean that the call was rejected without reaching a node. */
const unsentReason = /"reason":"(draining|no_upstream|key_store_unavailable)"/
const rejectingKinds = 'auth forbidden throttled quota methodUnavailable wrongNetwork invalidRequest batchTooLarge'

/** Kinds of temporary failures, and kinds that concern one call. */
const temporaryKinds = 'unavailable timeout badResponse'
const singleCallKinds = 'lagging missingData revert range txRejected txKnown unknown'

/** When half-open connections are closed, in milliseconds, so that they do not accumulate. */
const FORGET_MS = 10_000

/** Cases without an array: to one call it is malformed, but to a batch of one it is correct. */
const usable = failures.filter(({ response: { body } }) => !Array.isArray(body))

const vectors = (cases: readonly FailureCase[], weight: number): SoakFault[] =>
  cases.map((one) => ({
    name: one.name,
    weight: weight / cases.length,
    rejects: rejectingKinds.includes(one.expect.kind) || unsentReason.test(JSON.stringify(one.response.body)),
    script: vectorFailure(one),
  }))

/** The client takes this for a rejected batch and halves its batches permanently, so a long run would soon send none. */
const halving = 'broken: error of another id'

const isItem = ({ response: { body } }: FailureCase): boolean => (Object(body) as { readonly id?: unknown }).id === 1

const broken = (getItem: GetItem): SoakFault[] =>
  [
    { name: 'reset before any byte', weight: 2, script: resetAt(0, { hard: true }) },
    { name: 'closed before any byte', weight: 2, script: resetAt(0) },
    { name: 'reset in the head', weight: 1, script: resetAt(30) },
    { name: 'reset in the middle', weight: 2, script: resetAt(0.8, { getItem }) },
    {
      name: 'reset in the middle, chunked',
      weight: 1,
      script: resetAt(0.9, { getItem, framing: 'chunked', hard: true }),
    },
    { name: 'half-open', weight: 0.2, script: halfOpen({ forgetMs: FORGET_MS }) },
    { name: 'half-open in the response', weight: 0.1, script: halfOpen({ afterBytes: 100, forgetMs: FORGET_MS }) },
    { name: 'slow head', weight: 0.7, script: slowResponse('head', 60, { getItem }) },
    { name: 'slow body', weight: 0.7, script: slowResponse('body', 120, { getItem, framing: 'chunked' }) },
    { name: 'slower than the call has time', weight: 0.1, script: slowResponse('body', 8_000, { getItem }) },
    ...idFaults.map((fault) => ({ name: `id: ${fault}`, weight: 0.5, script: faultyId(fault, getItem) })),
  ].map((fault) => ({ ...fault, rejects: false }))

/**
 * Temporary faults. Excludes those that make the client avoid an endpoint for minutes (key, quota) or stop batching, because a long run would then
 * test nothing. Throttling is rare, because each occurrence slows down the endpoint for half a minute.
 */
export function passingFaults(getItem: GetItem): readonly SoakFault[] {
  return [
    ...broken(getItem),
    ...vectors(
      usable.filter((one) => !one.request.batch && temporaryKinds.includes(one.expect.kind) && one.name !== halving),
      5,
    ),
    ...vectors(
      usable.filter((one) => singleCallKinds.includes(one.expect.kind) && isItem(one)),
      1,
    ),
    { name: 'throttled', weight: 0.004, rejects: true, script: raw(429, 'Too Many Requests') },
    {
      name: 'throttled, named wait',
      weight: 0.004,
      rejects: true,
      script: raw(429, 'slow down', { 'retry-after': '1' }),
    },
  ]
}

/** All faults, including those that make the client avoid an endpoint: for short-lived transports. */
export function allFaults(getItem: GetItem): readonly SoakFault[] {
  return [...broken(getItem), ...vectors(usable, 12)]
}
