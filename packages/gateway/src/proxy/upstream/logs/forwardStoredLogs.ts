import { isRejection } from '../../../errors/rejection.ts'
import { rejections } from '../../../errors/rejections.ts'
import type { BlockRange } from '../../../storage/chainStore/blockRanges.ts'
import type { StoredLogs } from '../../../storage/chainStore/createChainReader.ts'
import type { LogQuery } from '../../../storage/chainStore/logQuery.ts'
import { dropBytes, holdBytes } from '../../../lib/memoryBudget.ts'
import { timedOut, withTimeout } from '../../../lib/withTimeout.ts'
import type { CallScope, LogSource, SendCall, SendOptions } from '../callScope.ts'
import type { CallDone } from '../callResult.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import type { GroupMember } from '../groupMember.ts'
import { payForResult } from '../payForResult.ts'
import { copyValue } from '../store/copyValue.ts'
import type { NodeResponse } from '../readResponse.ts'
import type { InFlightQuery, SentLogQuery } from '../store/createInFlightLogs.ts'
import type { NetworkStore } from '../store/networkStore.ts'
import { teeStream } from '../store/teeStream.ts'
import { waitForSlot } from '../waitForSlot.ts'
import { forwardRead } from './forwardLogs.ts'
import { parseLogQuery } from './parseLogQuery.ts'
import type { MissingLogs, ParsedLogQuery } from './parseLogQuery.ts'

const noop = (): void => {}

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
  /** It has waited for another call's query. It does so once, because that one may never end. */
  hasWaited: boolean
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
  if (parsed === undefined || store.getChain() === undefined) return undefined
  const endsAt = performance.now() + (options.deadlineMs ?? scope.timeoutMs)
  const stored: StoredCall = {
    call,
    scope,
    options,
    store,
    parsed,
    done,
    endsAt,
    isStopped: false,
    hasWaited: false,
    stop: noop,
  }
  readWithSlot(stored)
  return () => {
    stored.isStopped = true
    stored.stop()
  }
}

/** Reads what is stored with the slot of the call: without one, the logs would take memory, and other callers wait, while it is in a queue. */
const readWithSlot = (stored: StoredCall): void => {
  const { scope, options, done, endsAt } = stored
  if (scope.group.queue.hasSlot(scope)) {
    void readLogs(stored)
    return
  }
  const deadlineMs = Math.max(0, endsAt - performance.now())
  const run = (): (() => void) => {
    void readLogs(stored)
    return noop
  }
  stored.stop = waitForSlot(scope, { ...options, deadlineMs }, { run, reject: done })
}

const readLogs = async (stored: StoredCall): Promise<void> => {
  const { scope, store, parsed } = stored
  const { queue } = scope.group
  const version = store.getVersion()
  queue.acquire(scope)
  const chain = store.getChain()
  const found = chain === undefined ? undefined : await store.store.readLogs(chain, parsed.query, toReadOptions(stored))
  queue.release(scope, () => {
    if (!stored.isStopped) useFound(stored, store.getVersion() === version ? found : undefined)
  })
}

const useFound = (stored: StoredCall, found: StoredLogs | undefined): void => {
  const { scope, store, done } = stored
  if (found?.missing !== undefined) {
    forwardMissing(stored, toBuffer(found.value), found.missing)
    return
  }
  const result: NodeResponse | undefined = found && {
    member: 'result',
    value: toBuffer(found.value),
    cachedIn: 'store',
  }
  const paid = result && payForResult(result, scope)
  // What cannot be paid for may still be streamed from a node.
  if (paid === undefined || isRejection(paid)) forwardUnread(stored)
  else {
    store.count('eth_getLogs', 'hit')
    done(paid)
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

/** Forwards a call for which nothing of the store was used. */
const forwardUnread = (stored: StoredCall): void => {
  stored.store.count('eth_getLogs', 'miss')
  forwardWhole(stored)
}

/** `[]` */
const emptyListBytes = 2

const isWholeQuery = (query: LogQuery, { first, last, addresses }: MissingLogs): boolean =>
  first === query.first && last === query.last && addresses.length === query.addresses.length

/** Returns what was paid for a result that the caller does not get. */
const returnBytes = ({ scope: { budget } }: StoredCall, bytes: number): void => {
  budget.left += bytes
  dropBytes(budget.buffered, bytes)
}

const forwardMissing = (stored: StoredCall, value: Buffer, missing: MissingLogs): void => {
  const { scope, store, parsed } = stored
  const hasLogs = value.length > emptyListBytes
  if (hasLogs && isRejection(payForResult({ member: 'result', value }, scope))) return forwardUnread(stored)
  const query: LogQuery = { ...parsed.query, ...missing }
  const mayJoin = !stored.hasWaited && missing.last <= store.getVerified()
  const other = mayJoin ? store.inFlightLogs.find(query) : undefined
  if (other === undefined) sendMissing(stored, value, missing)
  else void joinInFlightLogs(stored, value, other)
}

/** Takes what is missing from another call's query in flight. */
const joinInFlightLogs = async (stored: StoredCall, value: Buffer, other: InFlightQuery): Promise<void> => {
  const { scope, options, store, done } = stored
  const version = store.getVersion()
  stored.hasWaited = true
  options.sent?.()
  const result = await withTimeout(other.wait(), toReadOptions(stored).waitMs)
  const joined =
    result === timedOut || result === undefined || stored.isStopped ? undefined : await joinCopy(stored, value, result)
  if (stored.isStopped) return
  const all = typeof joined === 'object' && store.getVersion() === version ? toBuffer(joined) : undefined
  // What is stored has been counted.
  const paidBytes = value.length > emptyListBytes ? value.length : 0
  const rest = all?.subarray(Math.min(paidBytes, all.length))
  if (all === undefined || rest === undefined || isRejection(payForResult({ member: 'result', value: rest }, scope))) {
    returnBytes(stored, paidBytes)
    return readWithSlot(stored)
  }
  store.count('eth_getLogs', 'part')
  done({ member: 'result', value: all })
}

/** Joins a copy of another call's result, which any number of calls wait for at once. @returns `undefined` if there is no room for it. */
const joinCopy = async (
  stored: StoredCall,
  value: Buffer,
  result: Buffer | string,
): ReturnType<NetworkStore['store']['joinLogs']> => {
  const { scope, store, parsed } = stored
  // The copy, and the one of the thread that joins.
  const bytes = 2 * result.length
  if (!holdBytes(scope.budget.buffered, bytes)) return undefined
  try {
    return await store.store.joinLogs([value, copyValue(result)], { ...toReadOptions(stored), of: parsed.query })
  } finally {
    dropBytes(scope.budget.buffered, bytes)
  }
}

/** Asks a node for what is missing. */
const sendMissing = (stored: StoredCall, value: Buffer, missing: MissingLogs): void => {
  const { call, scope, options, store, parsed, done } = stored
  const { query, toParams } = parsed
  const isWhole = isWholeQuery(query, missing)
  const hasLogs = value.length > emptyListBytes
  store.count('eth_getLogs', isWhole && !hasLogs ? 'miss' : 'part')
  /** Leaves out what is stored, because it does not help, and what was read of a node. */
  const giveUp = (readBytes = 0): void => {
    returnBytes(stored, value.length + readBytes)
    forwardWhole(stored)
  }
  const sentAt = performance.now()
  let hasStoredParts = false
  const keep = (range: BlockRange, source: LogSource, getResult: () => Uint8Array): void =>
    storeLogs(store, { ...query, ...range, addresses: missing.addresses }, source, getResult)
  const join = async (result: NodeResponse, member: GroupMember | undefined): Promise<void> => {
    const joined = await store.store.joinLogs([value, copyValue(result.value)], toReadOptions(stored))
    if (stored.isStopped) return
    // What is stored and what the node has are of different chains.
    if (joined === 'different') store.verifyAgain()
    if (joined === undefined || joined === 'different') giveUp(result.value.length)
    else done({ member: 'result', value: toBuffer(joined) }, member)
  }
  const receivedLogs: SendOptions['receivedLogs'] = ({ from, to }, result, source) => {
    hasStoredParts = true
    keep({ first: from, last: to }, source, () => new Uint8Array(result))
  }
  let listed: SentLogQuery | undefined
  const own: SendOptions = {
    ...options,
    mayStream: hasLogs || options.mayStream === undefined ? undefined : () => mayStream(listed, options),
    receivedLogs,
    sent: () => {
      listed ??= store.inFlightLogs.add({ ...query, ...missing })
      options.sent?.()
    },
  }
  forwardInTime(stored, isWhole ? call : { ...call, params: toParams(missing) }, own, (result, member) => {
    listed?.end('value' in result && result.member === 'result' ? result.value : undefined)
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
      if (source !== undefined) keep(missing, source, () => copyValue(result.value))
      if (hasLogs) void join(result, member)
      else done(result, member)
    }
  })
  const { stop } = stored
  stored.stop = () => {
    stop()
    listed?.end()
  }
}

/** Asks the caller first: once it may be streamed, no other call finds the query. */
const mayStream = (listed: SentLogQuery | undefined, options: SendOptions): boolean =>
  options.mayStream?.() === true && listed?.mayStream() !== false

/** Stores the part of an answer that its node had reported as finalized before the call was sent. */
const storeLogs = (
  { getStorable, addLogs }: NetworkStore,
  query: LogQuery,
  { member, at }: LogSource,
  getResult: () => Uint8Array,
): void => {
  const storable = getStorable(member, at)
  if (storable === undefined || storable.last < query.first) return
  addLogs({
    ...storable.source,
    query: { ...query, last: Math.min(query.last, storable.last) },
    answeredTo: query.last,
    result: getResult(),
  })
}
