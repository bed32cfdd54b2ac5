const password = 'a password of the bench'

/** A user with a session. */
export interface Developer {
  readonly id: string
  readonly post: <T>(route: string, body?: object) => Promise<T>
}

/** Signs a user up over HTTP, as a browser does. */
export const signUp = async (url: string, email: string): Promise<Developer> => {
  const headers = { 'content-type': 'application/json', origin: url }
  const post = (path: string, body: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}${path}`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
  const response = await post('/api/account', { email, password })
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
  const { account } = (await response.json()) as { account: { id: string } }
  return {
    id: account.id,
    post: async (path, body = {}) => {
      const result = await post(path, body, { cookie })
      if (!result.ok) throw new Error(`${path} failed with status ${result.status}: ${await result.text()}`)
      return result.json() as never
    },
  }
}

/** Creates an API key. @returns The path of its URL. */
export const createKey = async (developer: Developer): Promise<string> => {
  const { apiKey } = await developer.post<{ apiKey: string }>('/api/keys', { name: 'bench', network: 'testnet' })
  return `/testnet/${apiKey}`
}
