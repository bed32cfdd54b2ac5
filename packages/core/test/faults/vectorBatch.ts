import type { Script } from '../faultServer.ts'
import { callsOf } from './callsOf.ts'

/** The answer of a case of `batches.json`. */
export interface BatchResponse {
  readonly status: number
  readonly headers?: { readonly [name: string]: string | undefined }
  readonly body: unknown
}

/** Far from any id that is in use. */
const FOREIGN = 1_000_000_000

/** Answers a batch as a case of `batches.json` says: its ids 1, 2, 3 … stand for those of the first, second, third call, and others for nobody's. */
export function vectorBatch({ status, headers = {}, body }: BatchResponse): Script {
  return (seen, response) => {
    const ids = callsOf(seen).map(({ id }) => id)
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
