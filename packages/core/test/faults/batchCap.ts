import type { Script } from '../faultServer.ts'
import { answering, echoItem, itemFor } from './answering.ts'
import type { ItemOf } from './answering.ts'
import { callsOf } from './callsOf.ts'

/** How a server refuses a batch that is too large, as a case of `batches.json` writes it for its own few calls. */
export interface BatchRefusal {
  readonly status: number
  readonly headers?: { readonly [name: string]: string }
  readonly body: unknown
}

interface Entry {
  readonly id: number | null
  readonly error?: object
}

/**
 * Takes batches of so many calls, and refuses larger ones in a provider's own words: the whole by one error or a page, each call by an error of its own, or
 * what lies beyond the cap after it has answered the rest.
 */
export function batchCap(cap: number, { status, headers = {}, body }: BatchRefusal, itemOf: ItemOf = echoItem): Script {
  return (seen, response, socket) => {
    const calls = callsOf(seen)
    if (!Array.isArray(seen.json) || calls.length <= cap) return answering(itemOf)(seen, response, socket)
    const entries = Array.isArray(body) ? (body as Entry[]) : []
    const refused = entries.find(({ error }) => error)
    const answered = entries.some(({ error }) => !error) ? calls.slice(0, cap) : []
    const own = refused?.id != null
    const items = [
      ...answered.map((call) => itemFor(call, itemOf)),
      ...(own ? calls.slice(answered.length).map(({ id }) => ({ ...refused, id })) : refused ? [refused] : []),
    ]
    const lone = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, headers).end(refused ? JSON.stringify(items) : lone)
  }
}
