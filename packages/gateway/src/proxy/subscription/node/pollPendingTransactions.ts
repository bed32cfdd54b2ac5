import type { GroupMember } from '../../upstream/groupMember.ts'
import { queryUpstream } from '../../upstream/queryUpstream.ts'
import { getWaitMs } from './getWaitMs.ts'
import type { PollOptions } from './pollSyncing.ts'

const longestRetryMs = 30_000

/** A filter of one node. */
interface Filter {
  readonly member: GroupMember
  /** Source text. */
  readonly id: string
}

/** Options of the poll. */
export interface PendingPollOptions extends PollOptions {
  /** When to poll first, in milliseconds. */
  readonly startAfterMs: number
  /** Whether to poll now. A filter that is not needed is removed. */
  readonly isNeeded: () => boolean
}

/** The result of a query that failed. */
const failed = Symbol('failed')

/**
 * Polls a filter of pending transactions. If its node fails, forgets the filter or is not healthy any more, there is a new one, on another node
 * if there is any. What arrived in between is missing.
 * @param onHashes - Gets what the node sent, which is not checked.
 * @returns A function that ends it.
 */
export const pollPendingTransactions = (
  { group, timeoutMs, intervalMs, startAfterMs, isNeeded }: PendingPollOptions,
  onHashes: (hashes: readonly unknown[]) => void,
): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let filter: Filter | undefined
  let failedMember: GroupMember | undefined
  let failures = 0

  const query = async (member: GroupMember, method: string, params: string): Promise<unknown> => {
    const response = await queryUpstream(member.upstream, { method, params }, timeoutMs)
    return typeof response === 'string' || response.member === 'error' ? failed : JSON.parse(response.value.toString())
  }
  const pickMember = (): GroupMember | undefined => {
    const options = { calls: [{ method: 'eth_newPendingTransactionFilter' }] }
    return (failedMember && group.pick({ ...options, tried: [failedMember] })) ?? group.pick(options)
  }
  const remove = (): void => {
    if (filter !== undefined) void query(filter.member, 'eth_uninstallFilter', `[${filter.id}]`)
    filter = undefined
  }
  /** @returns Whether it worked. */
  const create = async (): Promise<boolean> => {
    const member = pickMember()
    if (member === undefined) return false
    const id = await query(member, 'eth_newPendingTransactionFilter', '[]')
    if (typeof id === 'string') filter = { member, id: JSON.stringify(id) }
    else failedMember = member
    if (isStopped) remove()
    return filter !== undefined
  }
  /** @returns Whether it worked. */
  const read = async ({ member, id }: Filter): Promise<boolean> => {
    const hashes = await query(member, 'eth_getFilterChanges', `[${id}]`)
    if (!Array.isArray(hashes)) {
      filter = undefined
      failedMember = member
      return false
    }
    if (!isStopped) onHashes(hashes)
    return true
  }
  const getWait = (works: boolean, hadFilter: boolean): number => {
    if (works) return intervalMs
    // A node that restarts forgets its filters, so the first new one is created at once.
    return hadFilter ? 0 : getWaitMs(failures, { firstMs: intervalMs, longestMs: longestRetryMs })
  }
  const poll = async (): Promise<void> => {
    const hadFilter = filter !== undefined
    let works = true
    if (!isNeeded()) remove()
    else {
      // Keeps the network from counting as idle, too.
      const best = pickMember()
      if (filter !== undefined && !filter.member.health.isHealthy() && best !== filter.member) remove()
      works = filter === undefined ? await create() : await read(filter)
    }
    if (isStopped) return
    failures = works ? 0 : failures + 1
    timer = setTimeout(() => void poll(), getWait(works, hadFilter))
  }
  timer = setTimeout(() => void poll(), startAfterMs)
  return () => {
    isStopped = true
    clearTimeout(timer)
    remove()
  }
}
