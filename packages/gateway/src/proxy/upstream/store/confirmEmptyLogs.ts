import { toHex } from '../../../lib/rpc/quantity.ts'
import { anyAddress } from '../../../storage/chainStore/logQuery.ts'
import type { LogQuery } from '../../../storage/chainStore/logQuery.ts'
import { confirmAfterMs } from '../../../storage/chainStore/createEmptyTable.ts'
import type { GroupMember } from '../groupMember.ts'
import { readRangeError } from '../logs/rangeError.ts'
import { queryUpstream } from '../queryUpstream.ts'
import { copyValue } from './copyValue.ts'
import { toAnswerSource } from './networkStoreParts.ts'
import type { NetworkStoreParts, Storable } from './networkStoreParts.ts'

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
interface ConfirmOptions extends Pick<NetworkStoreParts, 'store' | 'members' | 'logRanges' | 'timeoutMs'> {
  readonly getStorable: (member: GroupMember, sentAt: number) => Storable | undefined
  /** How many blocks a query of each node has: half as many after one that was too much, twice as many after one that was not. */
  readonly limits: Map<GroupMember, number>
  /** Called with a node that had called ranges empty which have logs, and how many. */
  readonly addContradictions: (upstream: string, count: number) => void
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
  upstream.hasRoomForQuery('eth_getLogs') &&
  !backoff.isPaused() &&
  upstream.inFlight() <= maxInFlight &&
  capabilities.offers('eth_getLogs')

const confirmOf = async (
  source: GroupMember,
  member: GroupMember,
  { store, getStorable, logRanges, timeoutMs, limits, addContradictions }: ConfirmOptions,
): Promise<ConfirmationEnd> => {
  const sentAt = performance.now()
  const storable = getStorable(member, sentAt)
  if (storable === undefined) return 'idle'
  const limit = limits.get(member) ?? maxBlocks
  const blocks = Math.min(limit, logRanges?.get(member) ?? limit)
  const ageMs = member === source ? confirmAfterMs : 0
  const picked = await store
    .call('pickUnconfirmed', toAnswerSource(source, storable.source.chain), {
      maxBlocks: blocks,
      ageMs,
      waitMs: ageMs + gatherMs,
    })
    .catch(() => undefined)
  if (picked === undefined) return 'idle'
  const { first } = picked.query
  const last = Math.min(picked.query.last, storable.last)
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
    // The chain may have been verified again.
    if (getStorable(member, sentAt) === undefined) return 'failed'
    const answer = {
      ...storable.source,
      query,
      result: copyValue(result.value),
    }
    const ended = await store.call('confirm', answer).catch(() => undefined)
    if (ended === undefined) return 'failed'
    if (ended.contradicted > 0) addContradictions(source.name, ended.contradicted)
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
