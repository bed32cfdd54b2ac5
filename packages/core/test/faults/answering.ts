import type { Script, Seen } from '../faultServer.ts'
import { callsOf } from './callsOf.ts'
import type { AskedCall } from './callsOf.ts'

/** What one call is answered: `{ result }` or `{ error }`. */
export type ItemOf = (call: AskedCall) => object

/** The result that tells whose it is: the call's own method and params. */
export const echoItem: ItemOf = ({ method, params }) => ({ result: { method, params } })

/** One item of an answer, with the id of its call. */
export const itemFor = (call: AskedCall, itemOf: ItemOf): object => ({ jsonrpc: '2.0', id: call.id, ...itemOf(call) })

/** The body of an answer: an array where a batch was asked. */
export function bodyFor(seen: Seen, itemOf: ItemOf): unknown {
  const items = callsOf(seen).map((call) => itemFor(call, itemOf))
  return Array.isArray(seen.json) ? items : items[0]
}

/** Answers as a good server does, each call by its own id, alone and in batches. */
export function answering(itemOf: ItemOf = echoItem): Script {
  return (seen, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(bodyFor(seen, itemOf)))
  }
}
