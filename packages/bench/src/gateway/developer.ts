const password = 'a password of the bench'

/** Somebody who is logged in. */
export interface Developer {
  readonly id: string
  readonly ask: <Answer>(route: string, body?: object) => Promise<Answer>
}

/** Signs somebody up over HTTP, as a browser would. */
export const signUp = async (url: string, email: string): Promise<Developer> => {
  const headers = { 'content-type': 'application/json', origin: url }
  const post = (path: string, body: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}${path}`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
  const answer = await post('/api/account', { email, password })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  const { account } = (await answer.json()) as { account: { id: string } }
  return {
    id: account.id,
    ask: async (path, body = {}) => {
      const given = await post(path, body, { cookie })
      if (!given.ok) throw new Error(`${path} was answered with ${given.status}: ${await given.text()}`)
      return given.json() as never
    },
  }
}

/** Creates an API key. @returns The path of its URL. */
export const createKey = async (developer: Developer): Promise<string> => {
  const { apiKey } = await developer.ask<{ apiKey: string }>('/api/keys', { name: 'bench', network: 'testnet' })
  return `/testnet/${apiKey}`
}
