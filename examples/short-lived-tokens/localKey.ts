import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** The service of `npm start`, and its account and app. */
export interface LocalService {
  readonly url: string
  readonly account: { readonly email: string; readonly password: string }
  readonly app: { readonly id: string }
}

/** Reads the private key of a PEM file. Creates the file with a new key if there is none. */
export function readPrivateKey(file: string): KeyObject {
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  }
  return createPrivateKey(readFileSync(file))
}

/** Reads which account and app the service of `npm start` has, from its data folder. */
export function readLocalService(baseUrl: string): LocalService {
  const state = readFileSync(new URL('../../.keyrail/keyrail.json', import.meta.url), 'utf8')
  const { account, app } = JSON.parse(state) as LocalService
  return { url: new URL(baseUrl).origin, account, app }
}

/** Adds the public key to the app, as you would in the dashboard, unless the app has it. @returns Its `kid`. */
export async function addPublicKey({ url, account, app }: LocalService, privateKey: KeyObject): Promise<string> {
  const headers = { origin: url, 'content-type': 'application/json' }
  const send = async (path: string, body?: object, cookie = ''): Promise<Response> => {
    const response = await fetch(`${url}/api${path}`, {
      headers: { ...headers, cookie },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`)
    return response
  }
  const session = await send('/session', account)
  const cookies = session.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
  const path = `/apps/${app.id}/jwt-keys`
  const pem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString()
  const { items } = (await (await send(path, undefined, cookies.join('; '))).json()) as {
    items: readonly { kid: string; publicPem: string }[]
  }
  const known = items.find(({ publicPem }) => publicPem.trim() === pem.trim())
  if (known) return known.kid
  const added = await send(path, { pem, label: 'examples/short-lived-tokens' }, cookies.join('; '))
  return ((await added.json()) as { kid: string }).kid
}
