import type { AccountError } from './accountError.ts'

/** Reads a request's headers, like `Headers`. */
export interface HeaderReader {
  get(name: string): string | null
}

/**
 * CSRF protection: rejects a write that another site may have made a browser send. Call it for each request with a session cookie and a
 * method other than GET or HEAD, even without a body.
 * @param headers - The request's headers.
 * @param publicOrigin - The origin of the dashboard, such as `https://node.example`.
 * @returns `undefined` if the write is allowed: its content type is JSON, which HTML forms cannot send, and `Origin` or `Sec-Fetch-Site`
 * says that the page is ours. Without both headers the client is not a browser, and the error says to use an access token.
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
        'This request did not come from a page of this service. In a browser, use the public URL; in a script, send an access token.',
    }
  if (type !== 'application/json')
    return {
      status: 415,
      code: 'not_json',
      message: 'The request is not declared as JSON. Send the header content-type: application/json.',
    }
  return undefined
}
