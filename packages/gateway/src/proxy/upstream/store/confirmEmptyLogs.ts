import { toHex } from '../../../lib/rpc/quantity.ts'
import { anyAddress } from '../../../storage/chainStore/logQuery.ts'
import type { LogQuery } from '../../../storage/chainStore/logQuery.ts'
import { confirmAfterMs } from '../../../storage/chainStore/createEmptyTable.ts'
import type { GroupMember } from '../groupMember.ts'
import { readRangeError } from '../logs/rangeError.ts'
import { queryUpstream } from '../queryUpstream.ts'
import type { NetworkStore } from './createNetworkStore.ts'
import { toAnswerSource } from './storedRead.ts'
import type { NetworkStoreParts } from './networkStoreParts.ts'

/** How many blocks a query has, until a node rejects it. */
const maxBlocks = 100_000
/** Ranges are gathered for this long: a sync adds them one after the other, and one query confirms many. */
const gatherMs = 10_000
/** Calls come first: a node with more of them in flight is not asked. */
const maxInFlight = 16

const toParams = ({ addresses, topics, first, last }: LogQuery): string => {
  const address = addresses[0] === anyAddress ? '' : `"address":${JSON.stringify(addresses)},`
  return `[{${address}"topics":${JSON.stringify(topics)},"fromBlock":"${toHex(first)}","toBlock":"${toHex(last)}"}]`
}

/** How a confirmation ended: `more` if there may be more to confirm, `failed` if the node did not help. */
export type ConfirmationEnd = 'more' | 'idle' | 'failed'

/** Options of a confirmation. */
interface ConfirmOptions
  extends Pick<NetworkStoreParts, 'store' | 'members' | 'logRanges' | 'timeoutMs'>, Pick<NetworkStore, 'getChainOf'> {
  /** How many blocks a query of each node has: half as many after one that was too much, twice as many after one that was not. */
  readonly limits: Map<GroupMember, number>
  /** How many ranges each node had called empty that have logs. */
  readonly contradictions: Map<string, number>
}

/**
 * Confirms ranges in which a node has found no logs, in one query: at another node if there is one, else at the same one ten minutes later. A node that
 * still indexes responds with nothing, and what is stored is stored for ever.
 */
export const confirmEmptyLogs = async (options: ConfirmOptions): Promise<ConfirmationEnd> => {
  let end: ConfirmationEnd = 'idle'
  for (const source of options.members) {
    const others = options.members.filter((member) => member !== source && isFree(member))
    // For the first of them, the range may not be final yet.
    for (const member of others.length === 0 && isFree(source) ? [source] : others) {
      const own = await confirmOf(source, member, options)
      if (own === 'more') return own
      if (own === 'failed') end = own
    }
  }
  return end
}

const isFree = ({ health, upstream, backoff, capabilities }: GroupMember): boolean =>
  health.isHealthy() &&
  upstream.hasRoomForQuery() &&
  !backoff.isPaused() &&
  upstream.inFlight() <= maxInFlight &&
  capabilities.offers('eth_getLogs')

const confirmOf = async (
  source: GroupMember,
  member: GroupMember,
  { store, getChainOf, logRanges, timeoutMs, limits, contradictions }: ConfirmOptions,
): Promise<ConfirmationEnd> => {
  const sentAt = performance.now()
  const chain = getChainOf(member, sentAt)
  if (chain === undefined) return 'idle'
  const limit = limits.get(member) ?? maxBlocks
  const blocks = Math.min(limit, logRanges?.get(member) ?? limit)
  const ageMs = member === source ? confirmAfterMs : 0
  const picked = await store
    .call('pickUnconfirmed', toAnswerSource(source, chain), { maxBlocks: blocks, ageMs, waitMs: ageMs + gatherMs })
    .catch(() => undefined)
  if (picked === undefined) return 'idle'
  const { first } = picked.query
  const last = Math.min(picked.query.last, member.finality.finalizedBefore(sentAt))
  if (last < first) return 'idle'
  const query = { ...picked.query, last }
  const count = last - first + 1
  let isTooMuch = false
  const result = await queryUpstream(
    member.upstream,
    { method: 'eth_getLogs', params: toParams(query) },
    timeoutMs,
    (_, tooMuch) => (isTooMuch = tooMuch),
  )
  if (typeof result !== 'string' && result.member === 'result') {
    if (count === limit) limits.set(member, Math.min(limit * 2, maxBlocks))
    if (getChainOf(member, sentAt) !== chain) return 'failed'
    const answer = {
      ...toAnswerSource(member, chain),
      query,
      result: new Uint8Array(Buffer.from(result.value as string, 'latin1')),
    }
    const ended = await store.call('confirm', answer).catch(() => undefined)
    if (ended === undefined) return 'failed'
    if (ended.contradicted > 0)
      contradictions.set(source.name, (contradictions.get(source.name) ?? 0) + ended.contradicted)
    return ended.confirmed + ended.contradicted > 0 ? 'more' : 'failed'
  }
  const error = typeof result === 'string' ? undefined : readRangeError(result)
  if ((error === undefined && !isTooMuch) || count === 1) return 'failed'
  const { maxBlocks: hint } = error?.hint ?? {}
  const smaller = hint !== undefined && hint < count ? hint : Math.ceil(count / 2)
  limits.set(member, smaller)
  // Otherwise, every second query would be rejected.
  if (error?.limitsBlocks === true) logRanges?.set(member, smaller)
  return 'more'
}
