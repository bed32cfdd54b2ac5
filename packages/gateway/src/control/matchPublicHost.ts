const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** The service's public host, as a request names it. */
export interface PublicHost {
  /** The origin of the service's pages. */
  readonly origin: string
  readonly secure: boolean
}

/**
 * Checks that a request was sent to the service's public host. This stops DNS rebinding, where another site points its own host name at
 * this machine. `localhost`, `127.0.0.1` and `[::1]` are interchangeable.
 * @param publicUrl - The URL of the dashboard.
 * @param host - The request's `Host` header.
 * @returns The origin of the service's pages under that host, or `undefined` if it is not the service's host.
 */
export const matchPublicHost = (publicUrl: string, host: string | null): PublicHost | undefined => {
  const url = new URL(publicUrl)
  const secure = url.protocol === 'https:'
  const requested = host === null || /[@/\\?#\s]/.test(host) ? null : URL.parse(`${url.protocol}//${host}`)
  if (requested === null || requested.port !== url.port) return undefined
  const same =
    requested.hostname === url.hostname || (loopback.includes(requested.hostname) && loopback.includes(url.hostname))
  return same ? { origin: requested.origin, secure } : undefined
}
