import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { addPublicKey, readPrivateKey } from '../short-lived-tokens/localKey.ts'
import { createTokenSource } from '../short-lived-tokens/tokenSource.ts'
import { createTokenRoute } from '../short-lived-tokens/tokenRoute.ts'
import type { TokenRouteOptions } from '../short-lived-tokens/tokenRoute.ts'
import { borrowService } from './lendService.ts'
import { createApp, logIn } from './controlApi.ts'

const { service } = await borrowService()
const origin = 'https://shop.example'
const post = (from: string): Request =>
  new Request('https://shop.example/token', { method: 'POST', headers: { origin: from } })

describe('the route of examples/short-lived-tokens', () => {
  const createRoute = (given: Partial<TokenRouteOptions> = {}): ReturnType<typeof createTokenRoute> => {
    const { privateKey } = generateKeyPairSync('ed25519')
    return createTokenRoute({ privateKey, kid: 'k', origins: [origin], isVisitor: () => true, ...given })
  }

  test.each(['ed25519', 'P-256'])('signs tokens with a key of type %s, and the service accepts them', async (curve) => {
    const { publicKey, privateKey } =
      curve === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: curve })
    const callApi = await logIn(service)
    const { id } = await createApp(callApi, service, `Tokens with ${curve}`)
    const pem = publicKey.export({ type: 'spki', format: 'pem' })
    const { kid } = await callApi<{ kid: string }>('POST', `/apps/${id}/jwt-keys`, { pem })
    const response = await createRoute({ privateKey, kid })(post(origin))
    expect(response.headers.get('cache-control')).toBe('no-store')
    const { token, expiresInS } = (await response.json()) as { token: string; expiresInS: number }
    expect(expiresInS).toBe(300)
    expect(await callApi('POST', `/apps/${id}/jwt-keys/test`, { token })).toMatchObject({
      ok: true,
      kid,
      narrows: true,
    })
  })

  test('issues no token to another origin, to someone who is not a visitor, or for GET', async () => {
    const statuses = [
      await createRoute()(post('https://evil.example')),
      await createRoute({ isVisitor: async () => false })(post(origin)),
      await createRoute()(new Request('https://shop.example/token', { headers: { origin } })),
    ].map(({ status }) => status)
    expect(statuses).toEqual([403, 403, 403])
  })
})

test('the key of examples/short-lived-tokens is created and added to the local app once', async () => {
  const room = mkdtempSync(join(tmpdir(), 'keyrail-tokens-'))
  onTestFinished(() => rmSync(room, { recursive: true, force: true }))
  const file = join(room, 'jwt.pem')
  const callApi = await logIn(service)
  const { id } = await createApp(callApi, service, 'Local tokens')
  const local = { ...service, app: { id } }
  const kid = await addPublicKey(local, readPrivateKey(file))
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await addPublicKey(local, readPrivateKey(file))).toBe(kid)
  const { items } = await callApi<{ items: { kid: string; publicPem: string }[] }>('GET', `/apps/${id}/jwt-keys`)
  const pem = createPublicKey(readPrivateKey(file)).export({ type: 'spki', format: 'pem' })
  expect(items).toMatchObject([{ kid, publicPem: pem }])
})

describe('the token of a page', () => {
  let stop = (): void => {}
  afterEach(() => {
    vi.useRealTimers()
    stop()
  })

  /** Starts a route that counts its requests. */
  const startRoute = async (respond: (count: number) => Response): Promise<{ url: string; getCount: () => number }> => {
    let count = 0
    const listener = getRequestListener(() => respond(++count))
    const server = createServer((request, response) => void listener(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    stop = () => {
      server.closeAllConnections()
      server.close()
    }
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, getCount: () => count }
  }

  test('is requested once by concurrent calls, and again before it expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    const route = await startRoute((count) => Response.json({ token: `token-${count}`, expiresInS: 300 }))
    const token = createTokenSource(route.url)
    expect(await Promise.all([token(), token()])).toEqual(['token-1', 'token-1'])
    vi.setSystemTime(239_000)
    expect(await token()).toBe('token-1')
    vi.setSystemTime(241_000)
    expect(await Promise.all([token(), token()])).toEqual(['token-2', 'token-2'])
    expect(route.getCount()).toBe(2)
  })

  test('is requested again after a failure', async () => {
    const route = await startRoute((count) =>
      count === 1 ? new Response('', { status: 403 }) : Response.json({ token: 'token', expiresInS: 300 }),
    )
    const token = createTokenSource(route.url)
    await expect(token()).rejects.toThrow('No token: HTTP 403')
    expect(await token()).toBe('token')
  })
})
