import type { DevDescription } from '../src/dev/devDescription.ts'

const json = { 'content-type': 'application/json' }

/** Logs in to the service of `keyrail dev`. @returns The session cookie. */
export async function logIn({ url, account: { email, password } }: DevDescription): Promise<string> {
  const response = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ email, password }),
  })
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

/** Creates a personal access token with a session. */
export async function createToken(service: string, cookie: string, scopes: readonly string[]): Promise<string> {
  const response = await fetch(`${service}/api/tokens`, {
    method: 'POST',
    headers: { ...json, cookie, origin: service },
    body: JSON.stringify({ label: scopes.join(' '), scopes, expiresAt: null }),
  })
  return ((await response.json()) as { token: string }).token
}
