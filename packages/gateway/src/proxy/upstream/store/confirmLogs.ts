import { toHex } from '../../../lib/rpc/quantity.ts'
import { anyAddress } from '../../../storage/chainStore/logQuery.ts'
import type { LogQuery } from '../../../storage/chainStore/logQuery.ts'
import { confirmAfterMs } from '../../../storage/chainStore/answerSource.ts'
import { readRangeError } from '../logs/rangeError.ts'
import { queryUpstream } from '../queryUpstream.ts'
import { copyValue } from './copyValue.ts'
import { hasRoom, toAnswerSource } from './networkStoreParts.ts'
import type { ConfirmationEnd, ConfirmationTask } from './confirmationTask.ts'

/** How many blocks a query has, until a node rejects it. */
const maxBlocks = 100_000
/** Ranges are gathered for this long: a sync adds them one after the other, and one query confirms many. */
const gatherMs = 10_000

const toParams = ({ addresses, topics, first, last }: LogQuery): string => {
  const address = addresses[0] === anyAddress ? '' : `"address":${JSON.stringify(addresses)},`
  return `[{${address}"topics":${JSON.stringify(topics)},"fromBlock":"${toHex(first)}","toBlock":"${toHex(last)}"}]`
}

/** Confirms ranges of a node that another one, or itself later, can confirm, in one query. */
export const confirmLogs = async ({
  source,
  member,
  progress,
  options: { store, getStorable, logRanges, timeoutMs, limits, addContradictions },
}: ConfirmationTask): Promise<ConfirmationEnd> => {
  const sentAt = performance.now()
  const storable = getStorable(member, sentAt)
  if (storable === undefined || !hasRoom(member, 'eth_getLogs')) return 'idle'
  const limit = limits.get(member) ?? maxBlocks
  const blocks = Math.min(limit, logRanges?.get(member) ?? limit)
  const ageMs = member === source ? confirmAfterMs : 0
  const picked = await store
    .call('pickUnconfirmed', toAnswerSource(source, storable.source.chain), {
      maxBlocks: blocks,
      after: progress.logsAt,
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
  if ((error === undefined && !isTooMuch) || count === 1) {
    // It may not have blocks as old as these.
    if (typeof result !== 'string' || isTooMuch) progress.logsAt = picked.at
    return 'failed'
  }
  const { maxBlocks: hint } = error?.hint ?? {}
  const smaller = hint !== undefined && hint < count ? hint : Math.ceil(count / 2)
  limits.set(member, smaller)
  // Otherwise, every second query would be rejected.
  if (error?.limitsBlocks === true) logRanges?.set(member, smaller)
  return 'more'
}
