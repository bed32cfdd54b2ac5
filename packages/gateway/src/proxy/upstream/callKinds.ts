import { rejections } from '../../errors/rejections.ts'
import type { SendCall } from './callScope.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { CallResult } from './callResult.ts'
import { sendConfirmed } from './confirm/sendConfirmed.ts'
import { forwardCall } from './forward.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { readNodeResponse } from './readAttempt.ts'
import { sendRead } from './sendRead.ts'
import { sendFilterCall } from './sendFilterCall.ts'

/** How calls of one kind run. */
interface CallKind {
  /**
   * When a call of a request starts. `now`: at once, because it needs no node. `inOrder`: after the calls like it before it have ended. `shared`: at any
   * time, together with other reads, or not at all if its result is known. `alone`: at any time, and never together with others.
   */
  readonly starts: 'now' | 'inOrder' | 'shared' | 'alone'
  readonly send: SendCall
}

const noop = (): void => {}

const sendFixed: SendCall = ({ traits }, _scope, _options, done) => {
  done({ member: 'result', value: traits.result ?? 'null' })
  return noop
}

/** viem keeps its WebSocket open with `net_version`, and ignores the response. */
const sendKeepAlive: SendCall = (_call, { group }, _options, done) => {
  done({ member: 'result', value: `"${group.chainId}"` })
  return noop
}

/** Hands a subscription call to the service's own subscriptions. */
const sendSubscriptionCall: SendCall = (call, { subscriptions }, { sent }, done) => {
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
  { method, params }: ForwardedCall,
  { result, member }: { result: CallResult; member: GroupMember },
): boolean => {
  if ('reason' in result) return result.reason === 'upstream_timeout'
  if (!('value' in result) || result.member === 'result') return true
  const { kind } = readNodeResponse({ member, method, params, idempotent: false }, result, { status: 200 })
  return kind === 'txKnown' || kind === 'unconfirmed' || kind === 'timeout'
}

/** Forwards a write. From when it is sent, and again from when it ends, its key's reads join none that started before. */
const sendWrite: SendCall = (call, scope, { deadlineMs, sent }, done) => {
  const { inFlightReads, views } = scope.group
  inFlightReads.markChanged(scope.keyId)
  // One with a receipt would wait for it at each node.
  const copies = call.isPrivate !== true && call.method === 'eth_sendRawTransaction' ? scope.group.broadcast : 1
  // A node that only takes transactions has no head, so none is needed.
  return forwardCall(call, scope, { deadlineMs, sent, copies }, (result, member) => {
    inFlightReads.markChanged(scope.keyId)
    if (member !== undefined && mayHaveWrite(call, { result, member })) views.recordWrite(scope.keyId, member)
    done(result, member)
  })
}

/** What the gateway does with a call. */
const kinds = {
  fixed: { starts: 'now', send: sendFixed },
  keepAlive: { starts: 'now', send: sendKeepAlive },
  filter: { starts: 'inOrder', send: sendFilterCall },
  subscription: { starts: 'inOrder', send: sendSubscriptionCall },
  write: { starts: 'inOrder', send: sendWrite },
  read: { starts: 'shared', send: sendRead },
  confirmed: { starts: 'alone', send: sendConfirmed },
} as const satisfies Record<string, CallKind>

/** Gets the kind of a call. */
export const getKind = ({ result, keepsAlive, filter, subscribes, idempotent, confirm }: MethodTraits): CallKind => {
  if (result !== undefined) return kinds.fixed
  if (keepsAlive === true) return kinds.keepAlive
  if (filter !== undefined) return kinds.filter
  if (subscribes === true) return kinds.subscription
  if (confirm !== undefined) return kinds.confirmed
  return idempotent ? kinds.read : kinds.write
}
