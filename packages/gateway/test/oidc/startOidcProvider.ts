import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import type { OidcConfig } from '../../src/oidc/oidcClient.ts'

/** A user of the provider. */
export interface ProviderUser {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: unknown
  readonly groups?: unknown
}

/** A real OpenID Connect provider. Its log-in page logs everybody in as `user`, at once. */
export interface OidcProvider {
  readonly issuer: string
  readonly config: OidcConfig & { readonly clientSecret: string }
  /** Who logs in next. */
  user: ProviderUser
  /** A claim that is missing in one of the two places. */
  missing: { readonly [Place in 'id_token' | 'userinfo']?: string }
  /** Responds to requests whose path contains `at` in its place, or never if there is no `status`. */
  fault: { readonly at: string; readonly status?: number } | undefined
  /** Whether the log-in page declines. */
  declines: boolean
  /** Paths of all requests, without queries. */
  readonly requests: string[]
  /** Logs in as a browser does: follows redirects until one leaves the provider. @returns Where that leads. */
  readonly visit: (url: string) => Promise<URL>
  readonly close: () => Promise<void>
}

/**
 * Starts a provider on a free port of 127.0.0.1.
 * @param options.redirectUri - The only one that it accepts.
 * @param options.claimsInIdToken - Whether the email address is in the ID token, too. @default false
 * @param options.authMethod - @default 'client_secret_basic'
 */
export const startOidcProvider = async ({
  redirectUri,
  claimsInIdToken = false,
  authMethod = 'client_secret_basic',
}: {
  redirectUri: string
  claimsInIdToken?: boolean
  authMethod?: 'client_secret_basic' | 'client_secret_post'
}): Promise<OidcProvider> => {
  const config = {
    clientId: 'keyrail',
    clientSecret: randomBytes(24).toString('base64url'),
    scopes: ['openid', 'email'],
    label: 'Example Inc.',
  }
  let handle = (_request: IncomingMessage, response: ServerResponse): void => void response.writeHead(503).end()
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    found.requests.push(path)
    const { fault } = found
    if (fault === undefined || !path.includes(fault.at)) return handle(request, response)
    if (fault.status !== undefined) response.writeHead(fault.status).end('a fault of the provider')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const users = new Map<string, ProviderUser>()
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: config.clientId,
        client_secret: config.clientSecret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: authMethod,
      },
    ],
    clientAuthMethods: [authMethod],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' } as never] },
    cookies: { keys: [randomBytes(24).toString('hex')] },
    claims: { openid: ['sub'], email: ['email', 'email_verified', 'groups'] },
    conformIdTokenClaims: !claimsInIdToken,
    pkce: { required: () => true },
    // Its defaults print notices.
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, accountId) => ({
      accountId,
      claims: async (use) =>
        ({ ...users.get(accountId), [found.missing[use as 'id_token'] ?? 'none']: undefined, sub: accountId }) as never,
    }),
    // There is no consent prompt.
    loadExistingGrant: async ({ oidc }) => {
      const { client, session } = oidc
      const grant = new provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' })
      grant.addOIDCScope('openid email')
      await grant.save()
      return grant
    },
    renderError: (context) => {
      context.body = 'an error of the provider'
    },
  })
  const callback = provider.callback()
  const interact = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    users.set(found.user.sub, found.user)
    const result = found.declines ? { error: 'access_denied' } : { login: { accountId: found.user.sub } }
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
  }
  handle = (request, response) => {
    if (request.url?.startsWith('/interaction/') === true) void interact(request, response)
    else void callback(request, response)
  }
  const found: OidcProvider = {
    issuer,
    config: { issuer, ...config },
    user: { sub: 'nobody' },
    missing: {},
    fault: undefined,
    declines: false,
    requests: [],
    visit: async (start) => {
      const cookies = new Map<string, string>()
      let url = new URL(start)
      while (url.origin === issuer) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
        const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
        for (const line of response.headers.getSetCookie()) {
          const [pair = ''] = line.split(';')
          cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
        }
        const location = response.headers.get('location')
        if (location === null)
          throw new Error(`the provider responded with ${response.status}: ${await response.text()}`)
        url = new URL(location, url)
      }
      return url
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return found
}
