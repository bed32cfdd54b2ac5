const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** What the dashboard's address means for a request. */
export interface PublicHost {
  /** The origin that pages of the service have. */
  readonly origin: string
  readonly secure: boolean
}

/**
 * Whether a request came to the service's public address. The name that it was sent to is what a page of another site cannot choose, and what
 * one that points its own name at this machine gives away.
 * On this machine its names stand for one another.
 * @param publicUrl - Where the dashboard is reached.
 * @param host - The request's `Host` header.
 * @returns The origin that pages have under that name; `undefined` where it is another's.
 */
export const publicHost = (publicUrl: string, host: string | null): PublicHost | undefined => {
  const url = new URL(publicUrl)
  const secure = url.protocol === 'https:'
  const asked = host === null || /[@/\\?#\s]/.test(host) ? null : URL.parse(`${url.protocol}//${host}`)
  if (asked === null || asked.port !== url.port) return undefined
  const same = asked.hostname === url.hostname || (loopback.includes(asked.hostname) && loopback.includes(url.hostname))
  return same ? { origin: asked.origin, secure } : undefined
}
