import { toEntryText } from '../../../storage/chainStore/storedCall.ts'
import type { UnconfirmedEntry } from '../../../storage/chainStore/createEntryTable.ts'
import { queryUpstream } from '../queryUpstream.ts'
import type { QueryResult } from '../queryUpstream.ts'
import { isEmptyResult, saysNothing } from '../emptyResults.ts'
import type { ConfirmationEnd, ConfirmationTask } from './confirmationTask.ts'
import { copyValue } from './copyValue.ts'
import { toAnswerSource } from './networkStoreParts.ts'

/** How many results are confirmed at once. */
const count = 10

/** Whether a query says nothing about its call: the node does not help now. */
const isUnavailable = (result: QueryResult | undefined): boolean =>
  result === 'skipped' || result === 'throttled' || result === 'unreachable'

/** Confirms results of a node other than logs, in their order. Traces are confirmed by nodes with the same client only. */
export const confirmEntries = async ({
  source,
  member,
  progress,
  options,
}: ConfirmationTask): Promise<ConfirmationEnd> => {
  const { store, getStorable, addEntry, clients, timeoutMs } = options
  const sentAt = performance.now()
  const storable = getStorable(member, sentAt)
  if (storable === undefined) return 'idle'
  const { chain } = storable.source
  const picked = await store
    .call('pickEntries', toAnswerSource(source, chain), { after: progress.entry, count })
    .catch(() => [])
  // Those after it wait until the block is final at this node too.
  const early = picked.findIndex(({ block }) => block > storable.last)
  const due = early < 0 ? picked : picked.slice(0, early)
  const client = clients.get(member)
  const query = async ({ call }: UnconfirmedEntry): Promise<QueryResult | undefined> =>
    (call.client === undefined || call.client === client) && member.capabilities.offers(call.method)
      ? queryUpstream(member.upstream, call, timeoutMs)
      : undefined
  const results = await Promise.all(due.map(query))
  if (due.length === 0) return 'idle'
  // The chain may have been verified again.
  if (getStorable(member, sentAt) === undefined) return 'failed'
  // What the node cannot send, because it is too large for example, keeps nothing else waiting.
  const last = results.findLastIndex((result) => !isUnavailable(result))
  for (const [at, { call, block }] of due.entries()) {
    const result = results[at]
    if (typeof result !== 'object' || result.member !== 'result' || saysNothing(result.value)) continue
    const { value } = result
    const answer = { text: toEntryText(chain, call), call, block, isEmpty: isEmptyResult(value) }
    addEntry({ ...storable.source, ...answer, value: copyValue(value) })
  }
  progress.entry = due[last]?.number ?? progress.entry
  return results.every((result) => typeof result === 'string') ? 'failed' : 'more'
}
