import type { AccountError } from './accountError.ts'

/** The headers of a request, such as a `Headers`. */
export interface HeaderReader {
  get(name: string): string | null
}

/**
 * Rejects a write that another site may have made a browser send. For each request that a cookie vouches for and that is no GET or HEAD,
 * also without a body.
 * @param headers - The request's.
 * @param publicOrigin - Where the dashboard is served, such as `https://node.example`.
 * @returns The rejection, or `undefined` where the write may pass: it is JSON, which no form can send, and the browser says that the page is
 * ours. Who says nothing is no browser, and is told to use a token.
 * @see Fetch Metadata Request Headers, section 2.1
 */
export const checkBrowserWrite = (headers: HeaderReader, publicOrigin: string): AccountError | undefined => {
  const type = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  const origin = headers.get('origin')
  const site = headers.get('sec-fetch-site')
  const ours = (origin === null || origin === publicOrigin) && (site === null || site === 'same-origin')
  if (!ours || (origin === null && site === null))
    return {
      status: 403,
      code: 'cross_site',
      message:
        'this request did not come from a page of this service: a browser must be at its public address, and a script must use an access token',
    }
  if (type !== 'application/json')
    return { status: 415, code: 'not_json', message: 'a write must have the header content-type: application/json' }
  return undefined
}
