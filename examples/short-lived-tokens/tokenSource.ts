/**
 * Gives a function for the option `jwt`. It asks a route for a token, keeps it, and asks again before it ends.
 *
 * @param url - Answers `{ token, expiresInS }` to POST.
 */
export function renewingToken(url: string): () => Promise<string> {
  let token: Promise<string> | undefined
  let renewAt = 0

  const ask = async (): Promise<string> => {
    const askedAt = Date.now()
    const response = await fetch(url, { method: 'POST' })
    if (!response.ok) throw new Error(`No token: HTTP ${response.status}`)
    const body = (await response.json()) as { token: string; expiresInS: number }
    // A fifth of its time is left for calls that are under way.
    renewAt = askedAt + body.expiresInS * 800
    return body.token
  }

  return () => {
    if (!token || Date.now() >= renewAt) {
      // Calls meanwhile wait for the one that is asked for; where that fails, the next one asks again.
      renewAt = Infinity
      token = ask()
      token.catch(() => (renewAt = 0))
    }
    return token
  }
}
