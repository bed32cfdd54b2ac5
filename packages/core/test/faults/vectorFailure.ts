import type { FailureCase } from '@keyrail/vectors'
import type { Script } from '../faultServer.ts'
import { callsOf } from './callsOf.ts'

/** Far from any id that is in use. */
const FOREIGN = 1_000_000_000

/**
 * Answers as a case of `failures.json` says, with the ids of the request: the case's id 1 stands for the call's own, any other for nobody's.
 * A batch is answered by one such item for each call where the case has an item, and by the refusal of the whole where it has that.
 */
export function vectorFailure({ response: { status, headers = {}, body } }: Pick<FailureCase, 'response'>): Script {
  const textFor = (id: number | undefined): string => {
    if (typeof body === 'string') return body.replace(/"id":1\b/, `"id":${id}`)
    return JSON.stringify(body, (name, value: unknown) => {
      if (name !== 'id') return value
      if (typeof value === 'string') return String(id)
      return typeof value !== 'number' ? value : value === 1 ? id : FOREIGN + value
    })
  }
  const isItem = Object(body) === body && (body as { readonly id?: unknown }).id === 1
  return (seen, response) => {
    const calls = callsOf(seen)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(
      Array.isArray(seen.json) && isItem ? `[${calls.map(({ id }) => textFor(id)).join(',')}]` : textFor(calls[0]?.id),
    )
  }
}
