/**
 * Creates a function for the `jwt` option. It gets a token from a route, caches it, and renews it before it expires.
 *
 * @param url - The route: responds with `{ token, expiresInS }` to POST.
 */
export function createTokenSource(url: string): () => Promise<string> {
  let token: Promise<string> | undefined
  let renewAt = 0

  const fetchToken = async (): Promise<string> => {
    const requestedAt = Date.now()
    const response = await fetch(url, { method: 'POST' })
    if (!response.ok) throw new Error(`No token: HTTP ${response.status}`)
    const body = (await response.json()) as { token: string; expiresInS: number }
    // Renews after 80 % of the lifetime, so that the token stays valid for calls in flight.
    renewAt = requestedAt + body.expiresInS * 800
    return body.token
  }

  return () => {
    if (!token || Date.now() >= renewAt) {
      // Concurrent calls wait for the same token. If the request fails, the next call tries again.
      renewAt = Infinity
      token = fetchToken()
      token.catch(() => (renewAt = 0))
    }
    return token
  }
}
