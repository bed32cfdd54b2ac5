import type { Script } from '../faultServer.ts'
import { respondWith, echoItem, itemFor } from './respondWith.ts'
import type { GetItem } from './respondWith.ts'
import { getCalls } from './getCalls.ts'

/** A response of a server to a batch that is too large, from a case of `batches.json`. */
export interface BatchRejection {
  readonly status: number
  readonly headers?: { readonly [name: string]: string }
  readonly body: unknown
}

interface Entry {
  readonly id: number | null
  readonly error?: object
}

/**
 * Accepts batches of at most `cap` calls, and rejects larger ones with a provider's error: one error or page for the batch, one error for each
 * call, or an error for the calls beyond the cap.
 */
export function batchCap(
  cap: number,
  { status, headers = {}, body }: BatchRejection,
  getItem: GetItem = echoItem,
): Script {
  return (seen, response, socket) => {
    const calls = getCalls(seen)
    if (!Array.isArray(seen.json) || calls.length <= cap) return respondWith(getItem)(seen, response, socket)
    const entries = Array.isArray(body) ? (body as Entry[]) : []
    const rejected = entries.find(({ error }) => error)
    const succeeded = entries.some(({ error }) => !error) ? calls.slice(0, cap) : []
    const own = rejected?.id != null
    const items = [
      ...succeeded.map((call) => itemFor(call, getItem)),
      ...(own ? calls.slice(succeeded.length).map(({ id }) => ({ ...rejected, id })) : rejected ? [rejected] : []),
    ]
    const lone = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, headers).end(rejected ? JSON.stringify(items) : lone)
  }
}
