import type { Script } from '../faultServer.ts'
import { getCalls } from './getCalls.ts'

/** The response of a case of `batches.json`. */
export interface BatchResponse {
  readonly status: number
  readonly headers?: { readonly [name: string]: string | undefined }
  readonly body: unknown
}

/** An id that no client uses. */
const FOREIGN = 1_000_000_000

/** Responds to a batch as in a case of `batches.json`. Its ids 1, 2, 3 … are replaced by those of the calls, others by unknown ids. */
export function vectorBatch({ status, headers = {}, body }: BatchResponse): Script {
  return (seen, response) => {
    const ids = getCalls(seen).map(({ id }) => id)
    const idFor = (id: unknown): unknown => {
      if (typeof id === 'string') return String(ids[Number(id) - 1])
      if (typeof id !== 'number') return id
      return ids[id - 1] ?? FOREIGN + id
    }
    const text =
      typeof body === 'string'
        ? body
        : JSON.stringify(body, (name, value: unknown) => (name === 'id' ? idFor(value) : value))
    response.writeHead(status, { ...headers }).end(text)
  }
}
