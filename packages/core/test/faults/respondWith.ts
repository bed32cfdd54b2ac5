import type { Script, Seen } from '../faultServer.ts'
import { getCalls } from './getCalls.ts'
import type { RequestedCall } from './getCalls.ts'

/** The response to one call: `{ result }` or `{ error }`. */
export type GetItem = (call: RequestedCall) => object

/** A result that identifies its call: the method and params. */
export const echoItem: GetItem = ({ method, params }) => ({ result: { method, params } })

/** One response, with the id of its call. */
export const itemFor = (call: RequestedCall, getItem: GetItem): object => ({
  jsonrpc: '2.0',
  id: call.id,
  ...getItem(call),
})

/** The body of a response: an array for a batch. */
export function bodyFor(seen: Seen, getItem: GetItem): unknown {
  const items = getCalls(seen).map((call) => itemFor(call, getItem))
  return Array.isArray(seen.json) ? items : items[0]
}

/** Responds as a correct server does, with the id of each call, to single calls and batches. */
export function respondWith(getItem: GetItem = echoItem): Script {
  return (seen, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(bodyFor(seen, getItem)))
  }
}
