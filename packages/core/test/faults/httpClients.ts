import type { HttpOptions } from '../../src/transport/endpoint/http.ts'

/** Options that select the HTTP client: node:http, or `fetch` as on other platforms. */
export const httpClients: readonly (readonly [string, HttpOptions])[] = [
  ['node:http', {}],
  ['fetch', { fetch: globalThis.fetch }],
]
