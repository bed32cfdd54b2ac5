import type { UpstreamGroup } from '../../upstream/createUpstreamGroup.ts'
import { queryUpstream } from '../../upstream/queryUpstream.ts'

/** The options of polls of a network's nodes. */
export interface PollOptions {
  readonly group: Pick<UpstreamGroup, 'pick'>
  /** How long a query may take, in milliseconds. */
  readonly timeoutMs: number
  /** From the end of a query to the next one, in milliseconds. */
  readonly intervalMs: number
}

/**
 * Polls `eth_syncing` of the node that the network's calls go to, and reports when it starts or ends, as geth's subscription does: progress
 * alone is not reported, nor the status at the start.
 * @param onChange - Gets `false`, or the node's object as JSON text.
 * @returns A function that ends it.
 */
export const pollSyncing = (
  { group, timeoutMs, intervalMs }: PollOptions,
  onChange: (status: string) => void,
): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let wasSyncing: boolean | undefined

  const query = async (): Promise<string | undefined> => {
    const member = group.pick({ calls: [{ method: 'eth_syncing' }] })
    if (member === undefined) return undefined
    const response = await queryUpstream(member.upstream, { method: 'eth_syncing', params: '[]' }, timeoutMs)
    return typeof response === 'string' || response.member === 'error' ? undefined : response.value.toString()
  }
  const poll = async (): Promise<void> => {
    const status = await query()
    if (isStopped) return
    timer = setTimeout(() => void poll(), intervalMs)
    const isSyncing = status?.startsWith('{')
    if (status === undefined || (isSyncing !== true && status !== 'false')) return
    const hasChanged = wasSyncing !== undefined && wasSyncing !== isSyncing
    wasSyncing = isSyncing
    if (hasChanged) onChange(status)
  }
  void poll()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
