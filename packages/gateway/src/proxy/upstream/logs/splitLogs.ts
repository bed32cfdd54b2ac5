import { rejections } from '../../../errors/rejections.ts'
import { dropBytes } from '../../../lib/memoryBudget.ts'
import type { SendOptions } from '../callScope.ts'
import type { CallResult } from '../callResult.ts'
import type { ByteBudget } from '../postRequest.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import type { GroupMember } from '../groupMember.ts'
import { failureRules } from '../failureRules.ts'
import { readErrorKind } from '../classifyFailure.ts'
import type { CallSender } from './createCallSender.ts'
import { createLogPlan } from './createLogPlan.ts'
import type { BlockRange, LogPart, LogPlan } from './createLogPlan.ts'
import type { LogRanges } from './createLogRanges.ts'
import { getItems, joinArrays } from './joinArrays.ts'
import type { BlockRef, LogFilter } from './parseLogFilter.ts'
import { readRangeError } from './rangeError.ts'
import type { RangeError } from './rangeError.ts'
import { readBlock, toBlockCall } from './readBlock.ts'
import type { BlockId } from './readBlock.ts'

/** The most queries to a node for one call, rejected ones included: a caller pays for one call. */
export const maxQueries = 100
/** The most of them in flight. */
const concurrency = 4

/** How a split ended: with the joined logs, with what failed, or `impossible` if the range needs too many queries. */
export type SplitEnd = CallResult | 'impossible'

/** The options of a split. */
interface SplitOptions {
  readonly call: ForwardedCall
  readonly filter: LogFilter
  /** The node that all parts are read from. */
  readonly member: GroupMember
  /** How that node rejected the whole range, if it did. */
  readonly rejected: RangeError | undefined
  readonly ranges: LogRanges<GroupMember>
  readonly sender: CallSender
  readonly budget: ByteBudget
  /** Called with each part when it arrives. */
  readonly receivedLogs: SendOptions['receivedLogs']
}

/** A range of numbers, and the block at its end if that is not final yet. */
interface ResolvedRange extends BlockRange {
  readonly lastBlock: BlockId | undefined
}

/**
 * Reads the logs of a range from one node in parts, and joins them in chain order.
 *
 * A block's hash depends on all blocks before it. So if the last block of the range has the same hash before the first part is read and after
 * the last one, the chain was the same at both times, and so are the parts. If it differs, the result is a rejection. A range that is final is
 * not checked.
 */
export const splitLogs = async (options: SplitOptions): Promise<SplitEnd> => {
  const { member, ranges, rejected, sender } = options
  const range = await resolveRange(options)
  if (range === 'impossible' || !('from' in range)) return range
  if (range.from > range.to) return 'impossible'
  const size = ranges.get(member) ?? range.to - range.from + 1
  const plan = createLogPlan(range, { size, maxQueries, concurrency })
  if (rejected !== undefined) {
    const whole = plan.next()
    if (whole !== undefined && !plan.reject(whole, rejected.hint)) return 'impossible'
  }
  if (!plan.fits()) return 'impossible'
  const failure = await runPlan(plan, options)
  if (failure !== undefined) {
    returnBytes(plan, options)
    return failure
  }
  const { lastBlock } = range
  if (lastBlock !== undefined) {
    const now = await sender.query(toBlockCall(lastBlock.number), member)
    const block = readBlock(now)
    if (block === undefined) return toFailure(now)
    if (block?.hash !== lastBlock.hash) return rejections.chainReorganized()
  }
  return { member: 'result', value: joinArrays(plan.logs()) }
}

/** How many numbers without a block to skip to find the last block of a range. */
const maxSkipped = 20

/**
 * Resolves the tags of a filter at the node. A range that ends after the node's head ends at the head, and one that ends at
 * a number without a block, as some chains have them, at the block before it.
 */
const resolveRange = async (options: SplitOptions): Promise<ResolvedRange | SplitEnd> => {
  const { filter, member, sender } = options
  const queryBlock = async (block: BlockRef): Promise<BlockId | null | CallResult> => {
    const result = await sender.query(toBlockCall(block), member)
    const found = readBlock(result)
    return found === undefined ? toFailure(result) : found
  }
  const queryLast = async (to: BlockRef): Promise<BlockId | null | CallResult> => {
    const last = await queryBlock(to)
    if (typeof to !== 'number' || !isMissing(last)) return last
    const newest = await queryBlock('latest')
    if (newest === null || !('number' in newest) || newest.number < to) return newest
    for (let number = to - 1; number >= Math.max(to - maxSkipped, 0); number -= 1) {
      const before = await queryBlock(number)
      if (!isMissing(before)) return before
    }
    return last
  }
  const first = typeof filter.from === 'number' ? { number: filter.from } : await queryBlock(filter.from)
  if (first === null) return 'impossible'
  if (!('number' in first)) return first
  if (typeof filter.to === 'number' && filter.to <= member.finality.finalizedBefore(performance.now()))
    return { from: first.number, to: filter.to, lastBlock: undefined }
  const last = (await queryLast(filter.to)) ?? (await queryBlock('latest'))
  if (last === null) return 'impossible'
  if (!('number' in last)) return last
  return { from: first.number, to: last.number, lastBlock: last }
}

/** Whether the node says that it has no block with a number: by `null`, or by an error about the call. */
const isMissing = (found: BlockId | null | CallResult): boolean => {
  if (found === null) return true
  if ('number' in found || !('member' in found) || found.member === 'result' || !('value' in found)) return false
  return failureRules[readErrorKind(found.value, 'eth_getBlockByNumber')].about === 'call'
}

/** Queries all parts of a plan. @returns What failed, if something did. Then no part is in flight any more. */
const runPlan = (plan: LogPlan, options: SplitOptions): Promise<SplitEnd | undefined> =>
  new Promise((resolve) => {
    const { call, filter, member, sender, ranges } = options
    let isOver = false
    let limitsBlocks = options.rejected?.limitsBlocks === true
    const end = (failure?: SplitEnd): void => {
      isOver = true
      sender.cancel()
      resolve(failure)
    }
    const handle = (part: LogPart, result: CallResult, at: number): void => {
      const value = 'value' in result && result.member === 'result' ? Buffer.from(result.value) : undefined
      const items = value && getItems(value)
      if (value !== undefined && items !== undefined) {
        options.receivedLogs?.(part, value, { member, at })
        plan.complete(part, items)
        sendNext()
        return
      }
      const error = readRangeError(result)
      if (error === undefined) end(toFailure(result))
      else if (!plan.reject(part, error.hint)) end('impossible')
      else {
        limitsBlocks ||= error.limitsBlocks
        sendNext()
      }
    }
    const sendNext = (): void => {
      // A part may fail at once, if its key's queue is full.
      for (let part = plan.next(); part !== undefined && !isOver; part = plan.next()) {
        const sent = part
        const one = { ...call, params: filter.toParams(sent) }
        const at = performance.now()
        sender.send(one, { only: member, mayStream: undefined }, (result) => handle(sent, result, at))
      }
      if (isOver || !plan.isComplete()) return
      if (limitsBlocks) ranges.set(member, plan.size())
      end()
    }
    sendNext()
  })

/** A result that is not what the method returns is a bad response. */
const toFailure = (result: CallResult): CallResult =>
  'reason' in result || result.member === 'error' ? result : rejections.upstreamBad()

/** Returns the bytes of parts that were read in vain to the budget. */
const returnBytes = (plan: LogPlan, { budget }: SplitOptions): void => {
  let bytes = 0
  for (const { length } of plan.logs()) bytes += length
  budget.left += bytes
  dropBytes(budget.buffered, bytes)
}
