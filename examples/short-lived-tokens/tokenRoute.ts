import type { KeyObject } from 'node:crypto'
import { signJwt } from './signJwt.ts'

/** Who gets a token, and of what kind. */
export interface TokenRouteOptions {
  /** Its public half is among the app's JWT keys. */
  readonly privateKey: KeyObject
  /** What the dashboard calls that key. */
  readonly kid: string
  /** Whose pages may ask, such as `https://shop.example`. */
  readonly origins: readonly string[]
  /** Whether whoever asks is a visitor of yours: look for the session of your site here. */
  readonly isVisitor: (request: Request) => boolean | Promise<boolean>
  /** In seconds. @default 300 */
  readonly lifetimeS?: number
}

/** Makes a route that gives a page of one's own a token: `{ token, expiresInS }`. It works for that page's origin, and for reads alone. */
export function createTokenRoute({
  privateKey,
  kid,
  origins,
  isVisitor,
  lifetimeS = 300,
}: TokenRouteOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const origin = request.headers.get('origin')
    const isOurs = request.method === 'POST' && origin && origins.includes(origin) && (await isVisitor(request))
    if (!isOurs) return new Response('No token for you', { status: 403 })
    const now = Date.now() / 1_000
    const claims = {
      iat: Math.floor(now),
      exp: Math.ceil(now) + lifetimeS,
      // These only narrow what the app's own lists allow.
      origins: [origin],
      methods: ['eth_blockNumber', 'eth_call', 'eth_getBalance', 'eth_getBlockByNumber', 'eth_getLogs'],
    }
    const body = { token: signJwt(privateKey, kid, claims), expiresInS: lifetimeS }
    return Response.json(body, { headers: { 'cache-control': 'no-store' } })
  }
}
