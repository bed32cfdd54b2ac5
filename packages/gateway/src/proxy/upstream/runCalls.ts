import { isRejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import type { CallScope } from './callScope.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import { getKind } from './callKinds.ts'
import type { CallDone, CallResult, CheckedCall, RunListener, StopCalls } from './callResult.ts'
import { forward } from './forward.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { getBatchNeededHead, getNeededHead } from './heads/getNeededHead.ts'
import { chooseFinalBlock, trackFinalBlock } from './heads/trackFinalBlock.ts'
import { showsHead, trackHead } from './heads/trackHead.ts'
import { readStored } from './store/forwardStored.ts'
import { storeResult } from './store/storedRead.ts'
import { payForResult } from './payForResult.ts'
import { cacheResult, getCachedResult, toSharedRead } from './sharedRead.ts'
import type { SharedRead } from './sharedRead.ts'

/** Calls in one batch to a node. Nodes and providers allow at least this many. */
const upstreamBatchSize = 100
/** How many HTTP requests to nodes one request may have in flight. */
const maxInFlight = 16
/** How long a write waits for the write before it in the same request. */
const maxOrderMs = 1_000

const noResult = rejections.upstreamBad()
const noop = (): void => {}

/** A call of a request while it runs. */
interface RunningCall {
  readonly place: number
  call: ForwardedCall
  /** How its result may be shared; `undefined` if it may not. */
  read: SharedRead | undefined
  /** The identical reads of the same request, which get the same result. */
  duplicates: RunningCall[] | undefined
  /** The call by a tag and its result, if this one reads the block that the caller has seen at that tag. */
  first:
    | { readonly call: ForwardedCall; readonly result: CallResult; readonly member: GroupMember | undefined }
    | undefined
  /** The chain store does not have its result. */
  isMissing: boolean
  /** A node may have received it. */
  isSent: boolean
  /** It is a write in flight, which a cancel does not stop. */
  isWriting: boolean
  /** Stops what is in flight for it. */
  cancel: (() => void) | undefined
  /** The call that starts after it. */
  next: RunningCall | undefined
}

/** The calls of a request while they run. */
interface Run {
  readonly scope: CallScope
  readonly listener: RunListener
  /** By `performance.now`. */
  readonly endsAt: number
  /** In the order of the request; `undefined` for those that were rejected before. */
  readonly calls: (RunningCall | undefined)[]
  readonly results: CallResult[]
  /** The HTTP requests that wait for one of the `maxInFlight` slots, each with the calls that are sent together. */
  readonly queue: (readonly RunningCall[])[]
  /** By method traits, then by params: joining both into one key would copy each text. `undefined` for a single call. */
  readonly reads: Map<MethodTraits, Map<string, RunningCall>> | undefined
  /** How many calls have not ended. */
  left: number
  inFlight: number
  isStarting: boolean
  /** Called after a cancel, once no write is in flight; `undefined` before one. */
  stopped: (() => void) | undefined
}

/**
 * Runs the calls of a request. No other function leads from the steps of a request to the nodes.
 *
 * A read is not sent at all if its result is cached, if it is in the request twice, or if another caller's identical read is in flight. Cheap reads are
 * sent to a node in batches, because a request per call costs many times the CPU, here and at the node. Calls still do not affect each other: a call
 * that comes out of such a batch without a response of its own (the batch was rejected, timed out at half the deadline or was cut off, or its response
 * was missing or repeated) is sent once more, alone. Expensive calls are sent alone. Writes are sent one after the other, in their order, and so are
 * calls about filters and subscriptions.
 *
 * @param calls - Those that were rejected keep their place. At least one was not.
 * @returns Cancels the calls, except for writes in flight; `undefined` if the only call is one: it continues after its caller disconnects, because a
 * node may have received it.
 */
export const runCalls = (
  calls: readonly CheckedCall[],
  scope: CallScope,
  listener: RunListener,
): StopCalls | undefined => {
  const run: Run = {
    scope,
    listener,
    endsAt: performance.now() + scope.timeoutMs,
    calls: calls.map(toRunningCall),
    results: calls.map((call) => (isRejection(call) ? call : noResult)),
    queue: [],
    reads: calls.length > 1 ? new Map() : undefined,
    left: 0,
    inFlight: 0,
    isStarting: true,
    stopped: undefined,
  }
  for (const one of run.calls) if (one !== undefined) run.left += 1
  startCalls(run)
  startQueued(run)
  run.isStarting = false
  const [only] = run.calls
  if (calls.length === 1 && only?.call.traits.idempotent === false) return undefined
  return (stopped) => cancel(run, stopped)
}

const toRunningCall = (call: CheckedCall, place: number): RunningCall | undefined =>
  isRejection(call)
    ? undefined
    : {
        place,
        call,
        read: toSharedRead(call),
        duplicates: undefined,
        first: undefined,
        isMissing: false,
        isSent: false,
        isWriting: false,
        cancel: undefined,
        next: undefined,
      }

/** Starts the calls that need no request of their own, and queues the others. */
const startCalls = (run: Run): void => {
  let firstInOrder: RunningCall | undefined
  let lastInOrder: RunningCall | undefined
  let cheapReads: RunningCall[] | undefined
  for (const one of run.calls) {
    if (one === undefined) continue
    const { traits } = one.call
    const { starts, send } = getKind(traits)
    if (starts === 'inOrder') {
      firstInOrder ??= one
      if (lastInOrder !== undefined) lastInOrder.next = one
      lastInOrder = one
    } else if (starts === 'now')
      send(one.call, run.scope, {}, (result) => endCall(run, one, { result, member: undefined }))
    else if (shareResult(run, one)) continue
    else if (traits.expensive || starts === 'alone') run.queue.push([one])
    else {
      if (cheapReads === undefined || cheapReads.length === upstreamBatchSize) run.queue.push((cheapReads = []))
      cheapReads.push(one)
    }
  }
  if (firstInOrder !== undefined) run.queue.unshift([firstInOrder])
}

const cancel = (run: Run, stopped: () => void): void => {
  run.stopped = noop
  if (run.left > 0) {
    for (const one of run.calls) if (one?.isWriting === false) one.cancel?.()
    returnUnsent(run)
  }
  run.stopped = stopped
  endCancel(run)
}

/** Ends a cancel, once no write is in flight. */
const endCancel = (run: Run): void => {
  if (run.calls.some((one) => one?.isWriting === true)) return
  const { stopped } = run
  run.stopped = noop
  stopped?.()
}

/** Whether a call failed, or is being cancelled, without having been sent to a node. */
const isUnsent = ({ results }: Run, { place, isSent, isWriting }: RunningCall): boolean =>
  !isSent && !isWriting && isRejection(results[place] ?? noResult)

const returnUnsent = (run: Run): void => {
  const places: number[] = []
  for (const one of run.calls) if (one !== undefined && isUnsent(run, one)) places.push(one.place)
  if (places.length > 0) run.listener.unsent(places)
}

const complete = (run: Run): void => {
  returnUnsent(run)
  run.listener.done(run.results)
}

const setResult = (run: Run, one: RunningCall, result: CallResult): void => {
  run.results[one.place] = result
  run.left -= 1
  const outlivedCancel = one.isWriting && run.stopped !== undefined
  one.isWriting = false
  // Its attempts can be collected while other calls run.
  one.cancel = undefined
  if (outlivedCancel) {
    if (isUnsent(run, one)) run.listener.unsent([one.place])
    endCancel(run)
  } else if (run.left === 0 && run.stopped === undefined) complete(run)
}

/** Ends a call with what its node, or the call that it shares a read with, got for it. */
const endCall = (
  run: Run,
  one: RunningCall,
  last: { readonly result: CallResult; readonly member: GroupMember | undefined },
): void => {
  const { scope } = run
  const { call, first, duplicates } = one
  const seenCall = first === undefined ? trackFinalBlock(call, last.result, scope) : undefined
  if (seenCall !== undefined) {
    one.first = { call, ...last }
    one.call = seenCall
    one.read = toSharedRead(seenCall)
    one.isMissing = false
    run.queue.push([one])
    startSoon(run)
    return
  }
  const chosen = first === undefined ? last : chooseFinalBlock(first, last, scope)
  const result = showsHead(call) ? trackHead(call, chosen, scope) : chosen.result
  setResult(run, one, result)
  if (duplicates !== undefined) for (const each of duplicates) setResult(run, each, payForResult(result, scope))
}

const markSent = (one: RunningCall): void => {
  one.isSent = true
  if (one.duplicates !== undefined) for (const each of one.duplicates) each.isSent = true
}

/** Takes the result of a read from the cache, from an identical call of this request, or from one in flight. @returns Whether it could. */
const shareResult = (run: Run, one: RunningCall): boolean => {
  const { scope } = run
  const { read } = one
  if (read === undefined) return false
  const cached = getCachedResult(read, scope.group)
  if (cached !== undefined) {
    scope.group.saved.cache.total += 1
    // Its bytes have not been counted for this request yet.
    endCall(run, one, { result: payForResult(cached, scope), member: undefined })
    return true
  }
  const isJoined = joinDuplicate(run, one) || joinInFlight(run, one, read)
  if (isJoined) scope.group.saved.inFlight.total += 1
  return isJoined
}

const joinDuplicate = ({ reads }: Run, one: RunningCall): boolean => {
  const { traits, params = '[]' } = one.call
  if (reads === undefined || one.first !== undefined) return false
  let byParams = reads.get(traits)
  if (byParams === undefined) reads.set(traits, (byParams = new Map()))
  const leader = byParams.get(params)
  if (leader === undefined) {
    byParams.set(params, one)
    return false
  }
  leader.duplicates ??= []
  leader.duplicates.push(one)
  one.isSent = leader.isSent
  return true
}

const joinInFlight = (run: Run, one: RunningCall, { key, pin }: SharedRead): boolean => {
  const { scope } = run
  const { inFlightReads } = scope.group
  if (inFlightReads.size() === 0) return false
  const options = {
    deadlineMs: getLeftMs(run),
    neededHead: getNeededHead(one.call, pin, scope),
    sent: () => markSent(one),
  }
  const leave = inFlightReads.join(key, scope, (result, member) => endCall(run, one, { result, member }), options)
  if (leave !== undefined) one.cancel = leave
  return leave !== undefined
}

/** The time that is left, in milliseconds: exactly the timeout at first, because calls with the same timeout share a timer. */
const getLeftMs = ({ scope, isStarting, endsAt }: Run): number =>
  isStarting ? scope.timeoutMs : endsAt - performance.now()

const startQueued = (run: Run): void => {
  while (run.inFlight < maxInFlight && run.stopped === undefined) {
    const request = run.queue.shift()
    const [first, second] = request ?? []
    if (request === undefined || first === undefined) return
    run.inFlight += 1
    if (second === undefined) sendAlone(run, first)
    else sendTogether(run, request)
  }
}

const startSoon = (run: Run): void => {
  if (run.queue.length > 0) queueMicrotask(() => startQueued(run))
}

const freeSlot = (run: Run): void => {
  run.inFlight -= 1
  startSoon(run)
}

const sendAlone = (run: Run, one: RunningCall): void => {
  const { scope } = run
  const { call, read, isMissing } = one
  const deadlineMs = getLeftMs(run)
  const startNext = one.next && prepareNext(run, one, one.next)
  const end: CallDone = (result, member) => {
    freeSlot(run)
    endCall(run, one, { result, member })
    startNext?.()
  }
  if (deadlineMs <= 0) {
    end(rejections.upstreamTimeout(scope.timeoutMs))
    return
  }
  if (one.first !== undefined && shareResult(run, one)) {
    freeSlot(run)
    return
  }
  one.isWriting = !call.traits.idempotent
  // Other callers cannot wait for a read of several, because it is limited by the bytes that the others leave.
  const mayLead = run.calls.length === 1
  const neededHead = getNeededHead(call, read?.pin, scope)
  one.cancel = getKind(call.traits).send(
    call,
    scope,
    { deadlineMs, neededHead, read, mayLead, isMissing, sent: () => markSent(one) },
    end,
  )
}

const sendTogether = (run: Run, several: readonly RunningCall[]): void => {
  if (run.scope.group.store === undefined) sendBatch(run, several)
  else void sendUnstored(run, several)
}

/** Sends those of the calls whose results are not stored. */
const sendUnstored = async (run: Run, several: readonly RunningCall[]): Promise<void> => {
  const { scope } = run
  const deadlineMs = getLeftMs(run)
  const found = await Promise.all(several.map(({ call, read }) => readStored(call, scope, { read, deadlineMs })))
  if (run.stopped !== undefined) return
  for (const [at, one] of several.entries()) one.isMissing = found[at] === undefined
  const left = several.filter((_, at) => found[at] === undefined)
  const [first, second] = left
  if (first === undefined) freeSlot(run)
  else if (second === undefined) sendAlone(run, first)
  else sendBatch(run, left)
  for (const [at, one] of several.entries()) {
    const result = found[at]
    if (result !== undefined) endCall(run, one, { result, member: undefined })
  }
}

const sendBatch = (run: Run, several: readonly RunningCall[]): void => {
  const { scope } = run
  const { group } = scope
  let running = several.length
  const options = {
    deadlineMs: Math.max(1, getLeftMs(run)),
    neededHead: getBatchNeededHead(several, scope),
    sent: () => several.forEach(markSent),
  }
  const calls = several.map(({ call }) => call)
  const stop = forward(calls, scope, options, (result, member, place) => {
    const one = several[place]
    if (one !== undefined && result === undefined) run.queue.push([one])
    else if (one !== undefined && result !== undefined) {
      const { call, read } = one
      if (read !== undefined) {
        cacheResult(read, result, { group, member })
        if (group.store !== undefined) void storeResult(group.store, { call, read }, { result, member })
      }
      endCall(run, one, { result, member })
    }
    running -= 1
    if (running === 0) freeSlot(run)
  })
  for (const one of several) one.cancel ??= stop
}

/** Prepares the start of the call after another one. @returns Starts it now, and not when the other one has taken too long. */
const prepareNext = (run: Run, one: RunningCall, next: RunningCall): (() => void) => {
  const start = (): void => {
    clearTimeout(timer)
    if (one.next === undefined) return
    one.next = undefined
    run.queue.push([next])
    startSoon(run)
  }
  const timer = setTimeout(start, maxOrderMs)
  return start
}
