import { failures } from '@keyrail/vectors'
import type { FailureCase } from '@keyrail/vectors'
import { raw } from '../faultServer.ts'
import type { ItemOf } from '../faults/answering.ts'
import { halfOpen } from '../faults/halfOpen.ts'
import { idLies, lyingId } from '../faults/lyingId.ts'
import type { Fault } from '../faults/mixed.ts'
import { resetAt } from '../faults/resetAt.ts'
import { slowAnswer } from '../faults/slowAnswer.ts'
import { vectorFailure } from '../faults/vectorFailure.ts'

/** A fault, and whether the call was turned away by it before any node could see it. */
export interface SoakFault extends Fault {
  readonly refuses: boolean
}

/** Kinds by which a call is turned away at the door, and the reasons by which Keyrail's service says that nothing was passed on. */
const unsentReason = /"reason":"(draining|no_upstream|key_store_unavailable)"/
const atTheDoor = 'auth forbidden throttled quota methodUnavailable wrongNetwork invalidRequest batchTooLarge'

/** A part of a refused batch, or of what any node can say of any call. */
const passing = 'unavailable timeout badResponse'
const ofOneCall = 'lagging missingData revert range txRejected txKnown unknown'

/** Connections that a server has forgotten are closed after this, in milliseconds, or they would gather over the run. */
const FORGET_MS = 10_000

/** An array is a broken answer to one call, and a good one to a batch of one. */
const usable = failures.filter(({ response: { body } }) => !Array.isArray(body))

const vectors = (cases: readonly FailureCase[], weight: number): SoakFault[] =>
  cases.map((one) => ({
    name: one.name,
    weight: weight / cases.length,
    refuses: atTheDoor.includes(one.expect.kind) || unsentReason.test(JSON.stringify(one.response.body)),
    script: vectorFailure(one),
  }))

/** To a batch it is a refusal of the whole for no known reason, after which batches are half as large for good: a long run would soon make none. */
const halving = 'broken: error of another id'

const isItem = ({ response: { body } }: FailureCase): boolean => (Object(body) as { readonly id?: unknown }).id === 1

const broken = (itemOf: ItemOf): SoakFault[] =>
  [
    { name: 'reset before any byte', weight: 2, script: resetAt(0, { hard: true }) },
    { name: 'closed before any byte', weight: 2, script: resetAt(0) },
    { name: 'reset in the head', weight: 1, script: resetAt(30) },
    { name: 'reset in the middle', weight: 2, script: resetAt(0.8, { itemOf }) },
    {
      name: 'reset in the middle, chunked',
      weight: 1,
      script: resetAt(0.9, { itemOf, framing: 'chunked', hard: true }),
    },
    { name: 'half-open', weight: 0.2, script: halfOpen({ forgetMs: FORGET_MS }) },
    { name: 'half-open in the answer', weight: 0.1, script: halfOpen({ afterBytes: 100, forgetMs: FORGET_MS }) },
    { name: 'slow head', weight: 0.7, script: slowAnswer('head', 60, { itemOf }) },
    { name: 'slow body', weight: 0.7, script: slowAnswer('body', 120, { itemOf, framing: 'chunked' }) },
    { name: 'slower than the call has time', weight: 0.1, script: slowAnswer('body', 8_000, { itemOf }) },
    ...idLies.map((lie) => ({ name: `id: ${lie}`, weight: 0.5, script: lyingId(lie, itemOf) })),
  ].map((fault) => ({ ...fault, refuses: false }))

/**
 * What passes: faults that an endpoint may show now and then for hours. Without those by which an endpoint is left alone for minutes (key, quota) or
 * never given a batch again, after which a long run would test nothing any more; and with few refusals for speed, each of which slows the endpoint
 * for half a minute.
 */
export function passingFaults(itemOf: ItemOf): readonly SoakFault[] {
  return [
    ...broken(itemOf),
    ...vectors(
      usable.filter((one) => !one.request.batch && passing.includes(one.expect.kind) && one.name !== halving),
      5,
    ),
    ...vectors(
      usable.filter((one) => ofOneCall.includes(one.expect.kind) && isItem(one)),
      1,
    ),
    { name: 'throttled', weight: 0.004, refuses: true, script: raw(429, 'Too Many Requests') },
    {
      name: 'throttled, named wait',
      weight: 0.004,
      refuses: true,
      script: raw(429, 'slow down', { 'retry-after': '1' }),
    },
  ]
}

/** Every fault there is, those too after which an endpoint is left alone: for transports that do not live long. */
export function allFaults(itemOf: ItemOf): readonly SoakFault[] {
  return [...broken(itemOf), ...vectors(usable, 12)]
}
