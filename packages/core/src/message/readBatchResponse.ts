import type { HttpResponse } from '../http/httpClient.ts'
import { classify } from '../failure/classify.ts'
import type { FailureFacts } from '../failure/failureFacts.ts'
import { parseJson } from './parseJson.ts'
import { formatId, readResponse } from './readResponse.ts'

/** The entry of one call in a batch response: its result, or the facts of its failure. */
export type BatchEntryRead = { readonly result: unknown } | FailureFacts

/**
 * Parses and validates the response to a batch. Entries are matched to calls by id only, because servers may send them in any order.
 * If two entries have the same id, both are rejected. Unknown ids (a word, a fraction, the id of another batch) match no call.
 * A call without a matching entry fails; the other calls are not affected.
 *
 * @param response - The HTTP response.
 * @param first - The id of the first call; the others have the following ids.
 * @param count - How many calls were sent.
 * @returns The entry of each call, in the order of the calls; or one failure for all of them. Never throws.
 * @example
 * const text = '[{"jsonrpc":"2.0","id":2,"result":"0x2"},{"jsonrpc":"2.0","id":1,"result":"0x1"}]'
 * readBatchResponse({ status: 200, text, header: () => null }, 1, 2) // [{ result: '0x1', … }, { result: '0x2', … }]
 * @see JSON-RPC 2.0 section 6
 */
export function readBatchResponse(
  response: HttpResponse,
  first: number,
  count: number,
): readonly BatchEntryRead[] | FailureFacts {
  const { status, header } = response
  let body: unknown
  try {
    body = parseJson(response.text)
  } catch {
    // Not JSON: the text becomes the message of the failure.
  }
  const toFacts = (
    read: unknown,
    id: unknown,
    { text, problem }: Pick<HttpResponse, 'text' | 'problem'> = { text: '', problem: 'the error has no message' },
  ): FailureFacts => ({
    ...(readResponse({ status, text, problem, header }, { id: id as number, method: '' }, read) as FailureFacts),
    batch: true,
  })
  const toBadResponse = (text: string, final = false): FailureFacts => ({
    kind: 'badResponse',
    status,
    text,
    final,
    retryAfter: header('retry-after'),
    date: header('date'),
    batch: true,
  })
  const { id, result, error } = Object(body) as Entry
  const entries = Array.isArray(body) ? (body as unknown[]) : result !== undefined && error == null ? [body] : undefined
  // An error outside an array is about the whole batch, even if it has an id: a server without batches may send the id of the first call.
  if (!entries || !status || (status > 299 && status < 400)) return toFacts(body, id, response)

  const reads: (BatchEntryRead | undefined)[] = Array.from({ length: count })
  const errorsWithoutId: Entry[] = []
  /** Ids that match no call. */
  const unknownIds: unknown[] = []
  let matched = 0
  for (const entry of entries as (Entry | null)[]) {
    const entryId = entry?.id
    // Some servers return it as a string.
    const isQuoted = typeof entryId === 'string' && entryId === String(Number(entryId))
    const at = typeof entryId === 'number' || isQuoted ? Number(entryId) - first : -1
    if (at >= 0 && at < count && Number.isInteger(at)) {
      if (reads[at]) reads[at] = toBadResponse(`the batch has two responses with id ${first + at}`)
      else {
        matched++
        const succeeded = status < 300 && entry?.error == null && entry?.result !== undefined
        reads[at] = succeeded ? (entry as { result: unknown }) : toFacts(entry, entryId)
      }
    } else if (entryId == null && entry?.error != null) errorsWithoutId.push(entry)
    else if (Object(entry) === entry) unknownIds.push(entryId)
  }
  if (matched === count) return reads as BatchEntryRead[]

  // An error without an id must be about a call without an entry. It is used only if it is unambiguous which calls it is about.
  const [firstError] = errorsWithoutId
  const rejection = firstError && toFacts(firstError, undefined)
  if (rejection && !matched) return rejection
  const isUnambiguous =
    errorsWithoutId.every((entry) => toJson(entry) === toJson(firstError)) &&
    (errorsWithoutId.length === count - matched || (rejection && classify(rejection, '')?.kind === 'batchTooLarge'))
  const received =
    unknownIds.length > 0 ? `, but there is one with id ${unknownIds.slice(0, 3).map(formatId).join(', ')}` : ''
  // A server that returns none of the ids won't return them next time either.
  const final = !matched && unknownIds.length > 0
  return reads.map((read, at) => {
    if (read) return read
    if (rejection && isUnambiguous) return rejection
    return toBadResponse(`no response in the batch has request id ${first + at}${received}`, final)
  })
}

/** Writes an entry as text, to compare it with another; empty if it is nested too deeply. */
const toJson = (entry: unknown): string | undefined => {
  try {
    return JSON.stringify(entry)
  } catch {
    return ''
  }
}

interface Entry {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}
