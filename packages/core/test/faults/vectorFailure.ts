import type { FailureCase } from '@keyrail/vectors'
import type { Script } from '../faultServer.ts'
import { getCalls } from './getCalls.ts'

/** An id that no client uses. */
const FOREIGN = 1_000_000_000

/**
 * Responds as in a case of `failures.json`. Its id 1 is replaced by the id of the call, any other by an unknown id.
 * A batch gets one such response for each call, or the error for the whole batch if that is what the case has.
 */
export function vectorFailure({ response: { status, headers = {}, body } }: Pick<FailureCase, 'response'>): Script {
  const textFor = (id: number | undefined): string => {
    if (typeof body === 'string') return body.replace(/"id":1\b/, `"id":${id}`)
    return JSON.stringify(body, (name, value: unknown) => {
      if (name !== 'id') return value
      return typeof value !== 'number' ? value : value === 1 ? id : FOREIGN + value
    })
  }
  const isItem = Object(body) === body && (body as { readonly id?: unknown }).id === 1
  return (seen, response) => {
    const calls = getCalls(seen)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(
      Array.isArray(seen.json) && isItem ? `[${calls.map(({ id }) => textFor(id)).join(',')}]` : textFor(calls[0]?.id),
    )
  }
}
