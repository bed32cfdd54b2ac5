import type { KeyObject } from 'node:crypto'
import { signJwt } from './signJwt.ts'

/** Options of {@link createTokenRoute}. */
export interface TokenRouteOptions {
  /** Signs the tokens. Its public key is one of the app's JWT keys. */
  readonly privateKey: KeyObject
  /** The id of that key, from the dashboard. */
  readonly kid: string
  /** The origins of the pages that get tokens, such as `https://shop.example`. */
  readonly origins: readonly string[]
  /** Whether the request is from a visitor of your site: check your session here. */
  readonly isVisitor: (request: Request) => boolean | Promise<boolean>
  /** The lifetime of a token, in seconds. @default 300 */
  readonly lifetimeS?: number
}

/** Creates a route that issues a token to your pages: `{ token, expiresInS }`. The token is valid only for the origin of the page, and only for reads. */
export function createTokenRoute({
  privateKey,
  kid,
  origins,
  isVisitor,
  lifetimeS = 300,
}: TokenRouteOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const origin = request.headers.get('origin')
    const isAllowed = request.method === 'POST' && origin && origins.includes(origin) && (await isVisitor(request))
    if (!isAllowed) return new Response('Not allowed', { status: 403 })
    const now = Date.now() / 1_000
    const claims = {
      iat: Math.floor(now),
      exp: Math.ceil(now) + lifetimeS,
      // These restrict the token further than the lists of the app.
      origins: [origin],
      methods: ['eth_blockNumber', 'eth_call', 'eth_getBalance', 'eth_getBlockByNumber', 'eth_getLogs'],
    }
    const body = { token: signJwt(privateKey, kid, claims), expiresInS: lifetimeS }
    return Response.json(body, { headers: { 'cache-control': 'no-store' } })
  }
}
