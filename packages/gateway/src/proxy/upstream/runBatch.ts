import { isRejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import type { CallScope } from '../call/callScope.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { CallDone, CallResult, CheckedCall, RunListener } from './callResult.ts'
import { forward } from './forward.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import { getBatchNeededHead, getNeededHead } from './heads/getNeededHead.ts'
import { chooseFinalBlock, trackFinalBlock } from './heads/trackFinalBlock.ts'
import { showsHead, trackHead } from './heads/trackHead.ts'
import { forwardRead } from './logs/forwardLogs.ts'
import type { GroupMember } from './groupMember.ts'
import { payForResult } from './payForResult.ts'
import { proxyCall } from './proxyCall.ts'
import { cacheResult, getCachedResult, toSharedRead } from './sharedRead.ts'
import type { SharedRead } from './sharedRead.ts'

/** Calls in one batch to a node. Nodes and providers allow at least this many. */
const upstreamBatchSize = 100
/** How many HTTP requests to nodes one caller's batch may have in flight. */
const maxInFlight = 16
/** How long a write waits for the write before it in the batch. */
const maxOrderMs = 1_000

const noResult = rejections.upstreamBad()

type Cancel = () => void

interface BatchCall {
  readonly index: number
  readonly call: ForwardedCall
  /** How its result may be shared; `undefined` if it may not. */
  readonly read: SharedRead | undefined
  /** The indexes of identical reads in this batch, which get the same result. */
  duplicates: number[] | undefined
  /** The call by a tag and its result, if this one reads the block that the caller has seen at that tag. */
  readonly first?: {
    readonly call: ForwardedCall
    readonly result: CallResult
    readonly member: GroupMember | undefined
  }
}

/**
 * Runs the calls of a batch and returns their results in the same order. Calls that were rejected already keep their place.
 *
 * Cheap reads are sent to a node in batches, because a request per call costs many times the CPU, here and at the node. Calls still do not affect
 * each other: a call that comes out of such a batch without a response of its own (the batch was rejected, timed out at half the deadline or was cut
 * off, or its response was missing or repeated) is sent once more, alone. Expensive calls and writes are never batched. Writes are sent one after
 * the other, in their order.
 *
 * A read is not sent at all if its result is cached, if it is in the batch twice, or if another caller's identical call is in flight.
 *
 * @returns Cancels the batch, except for writes that are already running.
 */
export const runBatch = (calls: readonly CheckedCall[], scope: CallScope, { done, unsent }: RunListener): Cancel => {
  const { group, timeoutMs } = scope
  const deadlineAt = performance.now() + timeoutMs
  const results: CallResult[] = calls.map(() => noResult)
  /** Starts the HTTP requests that wait for one of the `maxInFlight` slots. */
  const queue: (() => void)[] = []
  const cancels = new Set<Cancel>()
  // One more than there are calls, so that the batch cannot complete before all of them have been started.
  let left = calls.length + 1
  let inFlight = 0
  let cancelled = false
  /** For each call, whether a node may have received it. */
  const isSent: boolean[] = calls.map(() => false)
  /** The indexes of the writes that are running, which a cancel does not stop. */
  const runningWrites = new Set<number>()

  const markSent = ({ index, duplicates }: BatchCall): void => {
    isSent[index] = true
    if (duplicates !== undefined) for (const duplicate of duplicates) isSent[duplicate] = true
  }
  /** Whether a call failed, or is being cancelled, without having been sent to a node. Calls that were rejected before the batch ran took no quota. */
  const isUnsent = (result: CallResult, index: number): boolean =>
    isRejection(result) && isSent[index] === false && !runningWrites.has(index) && !isRejection(calls[index] ?? result)
  const getWeight = (index: number): number => {
    const call = calls[index]
    return call === undefined || isRejection(call) ? 0 : call.traits.weight
  }
  const returnUnsent = (): void => {
    let units = 0
    for (const [index, result] of results.entries()) if (isUnsent(result, index)) units += getWeight(index)
    if (units > 0) unsent(units)
  }
  const complete = (): void => {
    returnUnsent()
    done(results)
  }
  const setResult = (index: number, result: CallResult): void => {
    results[index] = result
    left -= 1
    const outlivedCancel = runningWrites.delete(index) && cancelled
    if (outlivedCancel && isUnsent(result, index)) unsent(getWeight(index))
    if (left === 0 && !cancelled) complete()
  }
  /** Sets a result that this batch did not read from a node, so that its bytes have not been counted yet. */
  const setSharedResult = (index: number, result: CallResult): void => setResult(index, payForResult(result, scope))
  const completeCall = (one: BatchCall, received: CallResult, from?: GroupMember): void => {
    const { index, call, read, duplicates, first } = one
    // A single call does the same in `proxyCall`.
    const seenCall = first === undefined ? trackFinalBlock(call, received, scope) : undefined
    if (seenCall !== undefined) {
      const again = { ...one, call: seenCall, read: undefined, first: { call, result: received, member: from } }
      queue.push(() => sendAlone(again))
      queueMicrotask(startQueued)
      return
    }
    const last = { result: received, member: from }
    const { result: sent, member } = first === undefined ? last : chooseFinalBlock(first, last, scope)
    const result = showsHead(call) ? trackHead(call, { result: sent, member }, scope) : sent
    if (read?.pin !== undefined) cacheResult(read, result, { group, member })
    setResult(index, result)
    if (duplicates !== undefined) for (const duplicate of duplicates) setSharedResult(duplicate, result)
  }

  const startQueued = (): void => {
    while (inFlight < maxInFlight && !cancelled) {
      const start = queue.shift()
      if (start === undefined) return
      inFlight += 1
      start()
    }
  }
  const freeSlot = (): void => {
    inFlight -= 1
    queueMicrotask(startQueued)
  }
  /** Starts a request and makes it cancellable until it has ended. It may end while it starts: if there is no upstream. */
  const track = (start: (ended: () => void) => Cancel): void => {
    let over = false
    let cancel: Cancel = () => {}
    const ended = (): void => {
      over = true
      cancels.delete(cancel)
      freeSlot()
    }
    const started = start(ended)
    if (over) return
    cancel = started
    cancels.add(cancel)
  }
  const sendAlone = (one: BatchCall, then?: () => void): void => {
    const deadlineMs = deadlineAt - performance.now()
    if (deadlineMs <= 0) {
      freeSlot()
      completeCall(one, rejections.upstreamTimeout(timeoutMs))
      then?.()
      return
    }
    track((ended) => {
      const { idempotent, filter } = one.call.traits
      if (!idempotent) runningWrites.add(one.index)
      // Other callers cannot wait for a read of a batch, because it is limited by the bytes that this batch has left.
      const send = idempotent && filter === undefined ? forwardRead : proxyCall
      const neededHead = getNeededHead(one.call, one.read?.pin, scope)
      const cancel = send(one.call, scope, { deadlineMs, neededHead, sent: () => markSent(one) }, (result, member) => {
        ended()
        completeCall(one, result, member)
        then?.()
      })
      return idempotent ? cancel : (): void => {}
    })
  }
  const sendTogether = (several: readonly BatchCall[]): void =>
    track((ended) => {
      let running = several.length
      return forward(
        several.map(({ call }) => call),
        scope,
        {
          deadlineMs: Math.max(1, deadlineAt - performance.now()),
          neededHead: getBatchNeededHead(several, scope),
          sent: () => several.forEach(markSent),
        },
        (result, member, place) => {
          const one = several[place]
          if (one !== undefined && result === undefined) queue.push(() => sendAlone(one))
          else if (one !== undefined && result !== undefined) completeCall(one, result, member)
          running -= 1
          if (running === 0) ended()
        },
      )
    })
  const sendInOrder = ([first, ...rest]: readonly BatchCall[]): void => {
    if (first === undefined) return
    queue.push(() => {
      let continued = false
      const next = (): void => {
        clearTimeout(timer)
        if (continued) return
        continued = true
        sendInOrder(rest)
        queueMicrotask(startQueued)
      }
      const timer = setTimeout(next, maxOrderMs)
      sendAlone(first, next)
    })
  }

  // By method traits, then by params: joining both into one key would copy each text.
  const firstReads = new Map<MethodTraits, Map<string, BatchCall>>()
  /** Takes the result of a call from the cache, from an identical call of this batch, or from one in flight. @returns Whether it could. */
  const shareResult = (one: BatchCall): boolean => {
    const { read, index, call } = one
    if (read === undefined) return false
    const cached = getCachedResult(read, group)
    if (cached !== undefined) {
      setSharedResult(index, cached)
      return true
    }
    const { traits, params = '[]' } = call
    let byParams = firstReads.get(traits)
    if (byParams === undefined) firstReads.set(traits, (byParams = new Map()))
    const first = byParams.get(params)
    if (first !== undefined) {
      first.duplicates ??= []
      first.duplicates.push(index)
      isSent[index] = isSent[first.index] === true
      return true
    }
    byParams.set(params, one)
    if (group.inFlightReads.size() === 0) return false
    const complete: CallDone = (result) => {
      if (leave !== undefined) cancels.delete(leave)
      // The call that led has counted its bytes.
      completeCall(one, result)
    }
    const options = { neededHead: scope.seenHead, sent: () => markSent(one) }
    const leave = group.inFlightReads.join(read.key, scope, complete, options)
    if (leave !== undefined) cancels.add(leave)
    return leave !== undefined
  }

  const writes: BatchCall[] = []
  const requests: BatchCall[][] = []
  let cheapReads: BatchCall[] = []
  for (const [index, call] of calls.entries()) {
    if (isRejection(call)) {
      setResult(index, call)
      continue
    }
    const one: BatchCall = { index, call, read: toSharedRead(call), duplicates: undefined }
    if (shareResult(one)) continue
    const { idempotent, filter, expensive, result } = call.traits
    if (result !== undefined) setResult(index, { member: 'result', value: result })
    else if (!idempotent || filter !== undefined) writes.push(one)
    else if (expensive) requests.push([one])
    else {
      if (cheapReads.length === 0) requests.push(cheapReads)
      cheapReads.push(one)
      if (cheapReads.length === upstreamBatchSize) cheapReads = []
    }
  }
  sendInOrder(writes)
  for (const request of requests) {
    const [first, second] = request
    if (first !== undefined) queue.push(second === undefined ? () => sendAlone(first) : () => sendTogether(request))
  }
  startQueued()
  left -= 1
  if (left === 0) complete()
  return () => {
    if (cancelled || left === 0) return
    cancelled = true
    for (const cancel of cancels) cancel()
    returnUnsent()
  }
}
