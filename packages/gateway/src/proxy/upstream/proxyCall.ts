import type { ProxyOptions } from './proxyOptions.ts'
import { scanMembers } from '../../lib/json/scanMembers.ts'
import type { CallDone, CallResult } from './callResult.ts'
import { quantityIn } from './queryUpstream.ts'
import { proxyFilterCall } from './proxyFilterCall.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'
import type { GroupMember } from './groupMember.ts'
import { holdBytes } from '../../lib/memoryBudget.ts'
import { forwardCall } from './forwardCall.ts'
import type { ForwardedCall } from './forwardCall.ts'
import { rejections } from '../../errors/rejections.ts'
import { findPinnedBlock } from './findPinnedBlock.ts'
import type { Pin } from './findPinnedBlock.ts'
import type { NodeResponse } from './readResponse.ts'

/** Longer params are neither shared nor kept: they would have to be held as keys. */
const longestShared = 4_096
const nothing = (): void => {}

/** By what two reads are the same, and what their answer is held to. */
export interface SharedRead {
  readonly key: string
  readonly pin: Pin | undefined
  /** By the clock of `performance`, where there is a pin. */
  readonly askedAt: number
}

/** How a read may be shared with others; `undefined` for what may not. */
export const sharedRead = ({ method, params = '[]', traits }: ForwardedCall): SharedRead | undefined => {
  if (!traits.idempotent || traits.filter !== undefined || params.length > longestShared) return undefined
  const pin = traits.pin === undefined ? undefined : findPinnedBlock(traits.pin, params)
  return { key: method + params, pin, askedAt: pin === undefined ? 0 : performance.now() }
}

/** The answer that was kept for a read. */
export const keptAnswer = (read: SharedRead, group: UpstreamGroup): NodeResponse | undefined => {
  const value = read.pin === undefined ? undefined : group.cache.get(read.key)
  return value === undefined ? undefined : { member: 'result', value }
}

/** Keeps an answer where it can change no more, as far as the node that gave it knows. */
export const keepAnswer = (read: SharedRead, end: CallResult, { group, member }: KeptFrom): void => {
  if (read.pin === undefined || member === undefined || !group.cache.on || !('value' in end)) return
  if (end.member === 'result' && isFinal(read, end.value, member)) group.cache.set(read.key, end.value)
}

interface KeptFrom {
  readonly group: UpstreamGroup
  readonly member: GroupMember | undefined
}

/** What a node says that does not know (yet): nothing, or an empty list of what there may be more of. */
const sayNothing: ReadonlySet<string> = new Set(['null', '[]'])

const isFinal = ({ pin, askedAt }: SharedRead, value: Buffer | string, { finality }: GroupMember): boolean => {
  const short = value.length <= 4 ? value.toString('latin1') : ''
  if (short === 'null') return false
  if (pin === 'hash') return !sayNothing.has(short)
  const block = typeof pin === 'number' ? pin : blockOf(value)
  return block !== undefined && block <= finality.numberBefore(askedAt)
}

const largestTransaction = 256 * 1024

/** The block that a transaction or its receipt says it is in. */
const blockOf = (value: Buffer | string): number | undefined => {
  if (value.length > largestTransaction) return undefined
  const text = value.toString('latin1')
  const [only, another] = scanMembers(text)?.members.filter(({ name }) => name === 'blockNumber') ?? []
  return only === undefined || another !== undefined ? undefined : quantityIn(text.slice(only.start, only.end))
}

/**
 * Carries a single call: a read from what was kept or with others who ask the same at this moment, what is about a filter to the
 * node that has it, all else by itself.
 * @param done - Called once, and not after the returned function was called, which stops it.
 */
export const proxyCall = (call: ForwardedCall, options: ProxyOptions, done: CallDone): (() => void) => {
  if (call.traits.filter !== undefined) return proxyFilterCall(call, options, done)
  if (!call.traits.idempotent) return proxyChange(call, options, done)
  const read = sharedRead(call)
  if (read === undefined) return forwardCall(call, { ...options, mayStream: always }, done)
  const { group } = options
  const kept = keptAnswer(read, group)
  if (kept !== undefined) {
    // Where its caller does not read, what is written of it lies here once more.
    done(holdBytes(options.budget.kept, kept.value.length) ? kept : rejections.upstreamBusy())
    return nothing
  }
  if (group.queue.hasSlot(options)) return proxyShared(call, { read, options }, done)
  // What waits in its key's line is no flight yet: others would join it, and wait for a key that is not theirs.
  const joined = group.inFlightReads.join(read.key, options, done)
  if (joined !== undefined) return joined
  return group.queue.enqueue(options, {
    timeoutMs: options.deadlineMs ?? options.timeoutMs,
    run: (leftMs) => proxyShared(call, { read, options: { ...options, deadlineMs: leftMs } }, done),
    onReject: () => done(rejections.upstreamBusy()),
  })
}

const proxyShared = (
  call: ForwardedCall,
  { read, options }: { read: SharedRead; options: ProxyOptions },
  done: CallDone,
): (() => void) => {
  const { group } = options
  return group.inFlightReads.carry(read.key, options, {
    begin: (leader) =>
      forwardCall(call, { ...options, sent: leader.sent, mayStream: leader.mayStream }, (end, member) => {
        if (read.pin !== undefined) keepAnswer(read, end, { group, member })
        leader.done(end, member)
      }),
    done,
  })
}

const always = (): boolean => true

/** Carries what changes something. From when it goes out, and again from when it ends, its key's reads join none from before. */
export const proxyChange = (call: ForwardedCall, options: ProxyOptions, done: CallDone): (() => void) => {
  const { inFlightReads } = options.group
  inFlightReads.changed(options.keyId)
  return forwardCall(call, options, (end, member) => {
    inFlightReads.changed(options.keyId)
    done(end, member)
  })
}
