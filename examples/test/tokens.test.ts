import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { renewingToken } from '../short-lived-tokens/renewingToken.ts'
import { createTokenRoute } from '../short-lived-tokens/tokenRoute.ts'
import type { TokenRouteOptions } from '../short-lived-tokens/tokenRoute.ts'
import { borrowService } from './lendService.ts'
import { createApp, logIn } from './controlApi.ts'

const { service } = await borrowService()
const origin = 'https://shop.example'
const post = (from: string): Request =>
  new Request('https://shop.example/token', { method: 'POST', headers: { origin: from } })

describe('the route of examples/short-lived-tokens', () => {
  const routeOf = (given: Partial<TokenRouteOptions> = {}): ReturnType<typeof createTokenRoute> => {
    const { privateKey } = generateKeyPairSync('ed25519')
    return createTokenRoute({ privateKey, kid: 'k', origins: [origin], isVisitor: () => true, ...given })
  }

  test.each(['ed25519', 'P-256'])('signs by a key of %s what the service takes', async (curve) => {
    const { publicKey, privateKey } =
      curve === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: curve })
    const ask = await logIn(service)
    const { id } = await createApp(ask, service, `Tokens by ${curve}`)
    const pem = publicKey.export({ type: 'spki', format: 'pem' })
    const { kid } = await ask<{ kid: string }>('POST', `/apps/${id}/jwt-keys`, { pem })
    const response = await routeOf({ privateKey, kid })(post(origin))
    expect(response.headers.get('cache-control')).toBe('no-store')
    const { token, expiresInS } = (await response.json()) as { token: string; expiresInS: number }
    expect(expiresInS).toBe(300)
    expect(await ask('POST', `/apps/${id}/jwt-keys/test`, { token })).toMatchObject({ ok: true, kid, narrows: true })
  })

  test('gives nothing to another page, to somebody who is no visitor, or for the asking', async () => {
    const statuses = [
      await routeOf()(post('https://evil.example')),
      await routeOf({ isVisitor: async () => false })(post(origin)),
      await routeOf()(new Request('https://shop.example/token', { headers: { origin } })),
    ].map(({ status }) => status)
    expect(statuses).toEqual([403, 403, 403])
  })
})

describe('the token of a page', () => {
  let stop = (): void => {}
  afterEach(() => {
    vi.useRealTimers()
    stop()
  })

  /** A route that counts what it gives. */
  const startRoute = async (answer: (asked: number) => Response): Promise<{ url: string; asked: () => number }> => {
    let asked = 0
    const listener = getRequestListener(() => answer(++asked))
    const server = createServer((request, response) => void listener(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    stop = () => {
      server.closeAllConnections()
      server.close()
    }
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked }
  }

  test('is asked for once, by however many calls, and again before it ends', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    const route = await startRoute((asked) => Response.json({ token: `token-${asked}`, expiresInS: 300 }))
    const token = renewingToken(route.url)
    expect(await Promise.all([token(), token()])).toEqual(['token-1', 'token-1'])
    vi.setSystemTime(239_000)
    expect(await token()).toBe('token-1')
    vi.setSystemTime(241_000)
    expect(await Promise.all([token(), token()])).toEqual(['token-2', 'token-2'])
    expect(route.asked()).toBe(2)
  })

  test('is asked for again after a refusal', async () => {
    const route = await startRoute((asked) =>
      asked === 1 ? new Response('', { status: 403 }) : Response.json({ token: 'token', expiresInS: 300 }),
    )
    const token = renewingToken(route.url)
    await expect(token()).rejects.toThrow('No token: HTTP 403')
    expect(await token()).toBe('token')
  })
})
