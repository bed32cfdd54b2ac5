import type { CallScope, SendCall, SendOptions } from '../call/callScope.ts'
import type { CallDone, CallResult } from './callResult.ts'
import { proxyFilterCall } from './proxyFilterCall.ts'
import type { GroupMember } from './groupMember.ts'
import { forwardRead } from './logs/forwardLogs.ts'
import { getNeededHead } from './heads/getNeededHead.ts'
import { chooseFinalBlock, readsFinalBlock, trackFinalBlock } from './heads/trackFinalBlock.ts'
import { showsHead, trackHead } from './heads/trackHead.ts'
import type { ReadLeader } from './createInFlightReads.ts'
import { forwardCall } from './forward.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import { rejections } from '../../errors/rejections.ts'
import { readNodeResponse } from './readAttempt.ts'
import { payForResult } from './payForResult.ts'
import { cacheResult, getCachedResult, toSharedRead } from './sharedRead.ts'
import type { SharedRead } from './sharedRead.ts'
import { waitForSlot } from './waitForSlot.ts'

const noop = (): void => {}

/**
 * Runs a single call. A read is served from the cache or shared with identical reads that are in flight. A call about a filter goes to the
 * node that has the filter. Every other call is forwarded.
 */
export const proxyCall: SendCall = (call, scope, options, done) => {
  if (readsFinalBlock(call)) return proxyFinalBlock(call, scope, options, done)
  return showsHead(call)
    ? proxyAny(call, scope, options, (result, member) => done(trackHead(call, { result, member }, scope), member))
    : proxyAny(call, scope, options, done)
}

/** Reads the safe or finalized block. A batch does the same in `runBatch`. */
const proxyFinalBlock: SendCall = (call, scope, { deadlineMs = scope.timeoutMs, sent }, done) => {
  const deadlineAt = performance.now() + deadlineMs
  let stopAgain: (() => void) | undefined
  const stop = proxyAny(call, scope, { deadlineMs, sent }, (result, member) => {
    const seenCall = trackFinalBlock(call, result, scope)
    if (seenCall === undefined) {
      done(result, member)
      return
    }
    const leftMs = Math.max(1, deadlineAt - performance.now())
    stopAgain = proxyAny(seenCall, scope, { deadlineMs: leftMs, sent }, (block, by) => {
      const chosen = chooseFinalBlock({ call, result, member }, { result: block, member: by }, scope)
      done(chosen.result, chosen.member)
    })
  })
  return () => (stopAgain ?? stop)()
}

const proxyAny: SendCall = (call, scope, options, done) => {
  const { result, filter, subscribes, idempotent } = call.traits
  if (result !== undefined) {
    done({ member: 'result', value: result })
    return noop
  }
  if (filter !== undefined)
    return proxyFilterCall(call, scope, { ...options, neededHead: getNeededHead(call, undefined, scope) }, done)
  if (subscribes === true) return proxySubscription(call, scope, options, done)
  return (idempotent ? proxyRead : proxyWrite)(call, scope, options, done)
}

const proxyRead: SendCall = (call, scope, { deadlineMs, sent }, done) => {
  const { group, streams } = scope
  const read = toSharedRead(call)
  const neededHead = getNeededHead(call, read?.pin, scope)
  if (read === undefined)
    return forwardRead(call, scope, { deadlineMs, neededHead, sent, mayStream: streams ? always : undefined }, done)
  const cached = getCachedResult(read, group)
  if (cached !== undefined) {
    done(payForResult(cached, scope))
    return noop
  }
  const options: SendOptions = { deadlineMs, neededHead, sent }
  if (group.queue.hasSlot(scope)) return proxySharedRead(call, { read, scope, options }, done)
  // A read that waits in its key's queue is not in flight yet: followers would have to wait for another key's queue.
  const joined = group.inFlightReads.join(read.key, scope, done, options)
  if (joined !== undefined) return joined
  return waitForSlot(scope, options, {
    run: (queued) => proxySharedRead(call, { read, scope, options: queued }, done),
    reject: done,
  })
}

const proxySharedRead = (
  call: ForwardedCall,
  { read, scope, options }: { read: SharedRead; scope: CallScope; options: SendOptions },
  done: CallDone,
): (() => void) => {
  const { group } = scope
  const { deadlineMs, neededHead } = options
  const start = ({ sent, mayStream, done: leaderDone }: ReadLeader): (() => void) =>
    forwardRead(call, scope, { deadlineMs, neededHead, sent, mayStream }, (result, member) => {
      if (read.pin !== undefined) cacheResult(read, result, { group, member })
      leaderDone(result, member)
    })
  return group.inFlightReads.run(read.key, scope, { start, done }, options)
}

const always = (): boolean => true

/** Hands a subscription call to the service's own subscriptions. */
const proxySubscription: SendCall = (call, { subscriptions }, { sent }, done) => {
  if (subscriptions === undefined) done(rejections.methodNotFound(call.method))
  else
    subscriptions.run(call, (result) => {
      // It counts like a call that a node received.
      if (!('reason' in result)) sent?.()
      done(result)
    })
  return noop
}

/**
 * Whether a node has the transaction of a write, or may have it: it knew it already, or it has accepted it but the wait for its receipt timed out
 * (EIP-7966).
 */
const mayHaveWrite = (
  call: ForwardedCall,
  { result, member }: { result: CallResult; member: GroupMember },
): boolean => {
  if ('reason' in result) return result.reason === 'upstream_timeout'
  if (!('value' in result) || result.member === 'result') return true
  const { method, params } = call
  const { kind } = readNodeResponse({ member, method, params, idempotent: false }, result, { status: 200 })
  return kind === 'txKnown' || kind === 'unconfirmed' || kind === 'timeout'
}

/** Forwards a write. From when it is sent, and again from when it ends, its key's reads join none that started before. */
const proxyWrite: SendCall = (call, scope, { deadlineMs, sent }, done) => {
  const { inFlightReads, views } = scope.group
  inFlightReads.markChanged(scope.keyId)
  // A node that only takes transactions has no head, so none is needed.
  return forwardCall(call, scope, { deadlineMs, sent }, (result, member) => {
    inFlightReads.markChanged(scope.keyId)
    if (member !== undefined && mayHaveWrite(call, { result, member })) views.recordWrite(scope.keyId, member)
    done(result, member)
  })
}
