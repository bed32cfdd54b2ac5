import type { HttpResponse } from '../http/httpClient.ts'
import type { Facts } from '../failure/facts.ts'
import { idText, readResponse } from './readResponse.ts'

/** What was read for one call of a batch: its result, or the facts of its failure. */
export type ItemRead = { readonly result: unknown } | Facts

/**
 * Reads the answer to a batch with distrust, and pairs its items with the calls by id alone: their order says nothing.
 * An id that comes twice is not believed, neither time; an id that was not given (a text, a fraction, another batch's) is nobody's.
 * A call without an answer of its own fails, and the others keep theirs.
 *
 * @param answer - What came back by HTTP.
 * @param first - The id of the first call; the others have the ids that follow.
 * @param count - How many calls were sent.
 * @returns What was read for each call, in the order of the calls; or the one failure of all of them. Never throws.
 * @example
 * const text = '[{"jsonrpc":"2.0","id":2,"result":"0x2"},{"jsonrpc":"2.0","id":1,"result":"0x1"}]'
 * readBatchResponse({ status: 200, text, header: () => null }, 1, 2) // [{ result: '0x1', … }, { result: '0x2', … }]
 * @see JSON-RPC 2.0 section 6
 */
export function readBatchResponse(response: HttpResponse, first: number, count: number): readonly ItemRead[] | Facts {
  const { status, header } = response
  let body: unknown
  try {
    body = JSON.parse(response.text)
  } catch {
    // The text itself says what came instead.
  }
  const asOne = (read: unknown, id: unknown, text = 'an error without words'): Facts => ({
    ...(readResponse({ status, text, header }, { id: id as number, method: '' }, read) as Facts),
    batch: true,
  })
  const unpaired = (text: string, final = false): Facts => ({
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
  // A lone error speaks of the whole batch, whichever id it has: a server that takes no batch may repeat that of the first item.
  if (!entries || !status || (status > 299 && status < 400)) return asOne(body, id, response.text)

  const reads: (ItemRead | undefined)[] = Array.from({ length: count })
  const nameless: Entry[] = []
  /** Ids that belong to none of the calls. */
  const others: unknown[] = []
  let paired = 0
  for (const entry of entries as (Entry | null)[]) {
    const of = entry?.id
    const at = typeof of === 'number' ? of - first : -1
    if (at >= 0 && at < count && Number.isInteger(at)) {
      if (reads[at]) reads[at] = unpaired(`the batch has two responses with id ${first + at}`)
      else {
        paired++
        const good = status < 300 && entry?.error == null && entry?.result !== undefined
        reads[at] = good ? (entry as { result: unknown }) : asOne(entry, of)
      }
    } else if (of == null && entry?.error != null) nameless.push(entry)
    else if (Object(entry) === entry) others.push(of)
  }
  if (paired === count) return reads as ItemRead[]

  // Errors without an id can only mean calls that have no answer; believed where it cannot be unclear which.
  const [said] = nameless
  const rejection = said && asOne(said, undefined)
  if (rejection && !paired) return rejection
  const clear =
    nameless.every((entry) => written(entry) === written(said)) &&
    (nameless.length === count - paired || /\bbatch/i.test(rejection?.text ?? ''))
  const instead = others.length > 0 ? `, but there is one with id ${others.slice(0, 3).map(idText).join(', ')}` : ''
  // A server that has none of the ids does not send them back at all, and would not the next time.
  const final = !paired && others.length > 0
  return reads.map((read, at) => {
    if (read) return read
    if (rejection && clear) return rejection
    return unpaired(`no response in the batch has request id ${first + at}${instead}`, final)
  })
}

/** An entry as text, so that two can be compared; empty where it is nested too deep to be written. */
const written = (entry: unknown): string | undefined => {
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
