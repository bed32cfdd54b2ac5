import type { HttpOptions } from '../../src/transport/http.ts'

/** Options that choose a carrier: Node's own, and a `fetch` as everywhere else. */
export const httpClients: readonly (readonly [string, HttpOptions])[] = [
  ['node:http', {}],
  ['fetch', { fetch: globalThis.fetch }],
]
