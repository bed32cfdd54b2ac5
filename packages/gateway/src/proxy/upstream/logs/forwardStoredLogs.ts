import { isRejection } from '../../../errors/rejection.ts'
import { rejections } from '../../../errors/rejections.ts'
import type { BlockRange } from '../../../storage/chainStore/blockRanges.ts'
import type { LogQuery } from '../../../storage/chainStore/logQuery.ts'
import { dropBytes } from '../../../lib/memoryBudget.ts'
import type { CallScope, LogSource, SendCall, SendOptions } from '../../call/callScope.ts'
import type { CallDone } from '../callResult.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import type { GroupMember } from '../groupMember.ts'
import { payForResult } from '../payForResult.ts'
import type { NodeResponse } from '../readResponse.ts'
import type { NetworkStore } from '../store/createNetworkStore.ts'
import { toAnswerSource } from '../store/storedRead.ts'
import { teeStream } from '../store/teeStream.ts'
import { forwardRead } from './forwardLogs.ts'
import { parseLogQuery } from './parseLogQuery.ts'
import type { MissingLogs, ParsedLogQuery } from './parseLogQuery.ts'

/** A call of `eth_getLogs` and the store that has a part of its logs. */
interface StoredCall {
  readonly call: ForwardedCall
  readonly scope: CallScope
  readonly options: SendOptions
  readonly store: NetworkStore
  readonly parsed: ParsedLogQuery
  readonly done: CallDone
  /** By `performance.now`. */
  readonly endsAt: number
  isStopped: boolean
  stop: () => void
}

/**
 * Responds to `eth_getLogs` with what is stored, and asks a node for the rest in one call: from the first block that is missing to the last, for the
 * addresses that are not complete, so never for more than the caller did. Stores what the node sends, up to the block that it had reported as finalized.
 * @returns `undefined` if the store cannot be used for the call.
 */
export const forwardStoredLogs = (
  store: NetworkStore,
  ...[call, scope, options, done]: Parameters<SendCall>
): (() => void) | undefined => {
  const parsed = parseLogQuery(call.params ?? '')
  const chain = store.getChain()
  if (parsed === undefined || chain === undefined) return undefined
  const endsAt = performance.now() + (options.deadlineMs ?? scope.timeoutMs)
  const stored: StoredCall = { call, scope, options, store, parsed, done, endsAt, isStopped: false, stop: () => {} }
  void store.store.readLogs(chain, parsed.query, toReadOptions(stored)).then((found) => {
    if (stored.isStopped) return
    if (found === undefined || store.getChain() !== chain) forwardWhole(stored)
    else if (found.missing === undefined) {
      const paid = payForResult({ member: 'result', value: toBuffer(found.value), cachedIn: 'store' }, scope)
      // What cannot be paid for may still be streamed from a node.
      if (isRejection(paid)) return forwardWhole(stored)
      store.count('eth_getLogs', 'hit')
      done(paid)
    } else forwardMissing(stored, toBuffer(found.value), found.missing)
  })
  return () => {
    stored.isStopped = true
    stored.stop()
  }
}

/** Leaves a node at least half of the time. */
const toReadOptions = ({ endsAt, scope }: StoredCall): { maxBytes: number; waitMs: number } => ({
  maxBytes: scope.budget.left,
  waitMs: Math.max(0, endsAt - performance.now()) / 2,
})

const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Forwards a call within the time that is left. */
const forwardInTime = (stored: StoredCall, call: ForwardedCall, options: SendOptions, done: CallDone): void => {
  const deadlineMs = stored.endsAt - performance.now()
  if (deadlineMs > 0) stored.stop = forwardRead(call, stored.scope, { ...options, deadlineMs }, done)
  else done(rejections.upstreamTimeout(stored.scope.timeoutMs))
}

const forwardWhole = (stored: StoredCall): void => forwardInTime(stored, stored.call, stored.options, stored.done)

/** `[]` */
const emptyListBytes = 2

const forwardMissing = (stored: StoredCall, value: Buffer, missing: MissingLogs): void => {
  const { call, scope, options, store, parsed, done } = stored
  const { query, toParams } = parsed
  const isWhole =
    missing.first === query.first && missing.last === query.last && missing.addresses.length === query.addresses.length
  const hasLogs = value.length > emptyListBytes
  if (hasLogs && isRejection(payForResult({ member: 'result', value }, scope))) return forwardWhole(stored)
  store.count('eth_getLogs', isWhole && !hasLogs ? 'miss' : 'part')
  /** Leaves out what is stored, because it does not help. */
  const giveUp = (): void => {
    scope.budget.left += value.length
    dropBytes(scope.budget.buffered, value.length)
    forwardWhole(stored)
  }
  const sentAt = performance.now()
  let hasStoredParts = false
  const keep = (range: BlockRange, source: LogSource, getResult: () => Uint8Array): void =>
    storeLogs(store, { ...query, ...range, addresses: missing.addresses }, source, getResult)
  const join = async (result: NodeResponse, member: GroupMember | undefined): Promise<void> => {
    const joined = await store.store.joinLogs([value, toBytes(result.value)], toReadOptions(stored))
    if (stored.isStopped) return
    // What is stored and what the node has are of different chains.
    if (joined === 'different') store.verifyAgain()
    if (joined === undefined || joined === 'different') giveUp()
    else done({ member: 'result', value: toBuffer(joined) }, member)
  }
  const receivedLogs: SendOptions['receivedLogs'] = ({ from, to }, result, source) => {
    hasStoredParts = true
    keep({ first: from, last: to }, source, () => new Uint8Array(result))
  }
  const own = { ...options, mayStream: hasLogs ? undefined : options.mayStream, receivedLogs }
  forwardInTime(stored, isWhole ? call : { ...call, params: toParams(missing) }, own, (result, member) => {
    const source = member === undefined || hasStoredParts ? undefined : { member, at: sentAt }
    if ('stream' in result) {
      const teed =
        source === undefined
          ? result.stream
          : teeStream(result.stream, scope.budget.buffered, (bytes) => keep(missing, source, () => bytes))
      done({ ...result, stream: teed }, member)
    } else if ('reason' in result || result.member === 'error') {
      if (hasLogs && 'reason' in result && result.reason === 'response_too_large') giveUp()
      else done(result, member)
    } else {
      if (source !== undefined) keep(missing, source, () => toBytes(result.value))
      if (hasLogs) void join(result, member)
      else done(result, member)
    }
  })
}

/** A copy: the value may be a slice of a large body. */
const toBytes = (value: Buffer | string): Uint8Array => new Uint8Array(Buffer.from(value as string, 'latin1'))

/** Stores the part of an answer that its node had reported as finalized before the call was sent. */
const storeLogs = (
  { store, getChainOf }: NetworkStore,
  query: LogQuery,
  { member, at }: LogSource,
  getResult: () => Uint8Array,
): void => {
  const last = Math.min(query.last, member.finality.finalizedBefore(at))
  const chain = getChainOf(member, at)
  if (last < query.first || chain === undefined) return
  store.addLogs({
    ...toAnswerSource(member, chain),
    query: { ...query, last },
    answeredTo: query.last,
    result: getResult(),
  })
}
