import type { DevDescription } from '../../packages/cli/src/dev/devDescription.ts'

/** Calls the control API, as the dashboard does. */
export type CallApi = <Result>(method: string, path: string, body?: object) => Promise<Result>

/** Logs in. @returns A function that calls the control API with the session. */
export async function logIn({ url, account }: DevDescription): Promise<CallApi> {
  let cookie = ''
  const send = async (method: string, path: string, body?: object): Promise<Response> => {
    const response = await fetch(`${url}/api${path}`, {
      method,
      headers: { origin: url, 'content-type': 'application/json', cookie },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return response
  }
  const session = await send('POST', '/session', { email: account.email, password: account.password })
  cookie = session.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  return async <Result>(method: string, path: string, body?: object) => {
    const response = await send(method, path, body)
    return (response.status === 204 ? undefined : await response.json()) as Result
  }
}

/** An app of a test. */
export interface App {
  readonly id: string
  readonly version: number
  readonly baseUrl: string
  readonly apiKey: string
}

/** Creates an app. */
export async function createApp(callApi: CallApi, { url }: DevDescription, name: string): Promise<App> {
  const { app, apiKey } = await callApi<{ app: { id: string; version: number }; apiKey: string }>('POST', '/apps', {
    name,
    useCase: 'Wallet',
    chain: 'development',
    services: ['Node API'],
  })
  return { ...app, baseUrl: `${url}/testnet`, apiKey }
}
