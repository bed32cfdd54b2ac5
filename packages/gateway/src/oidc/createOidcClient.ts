import type { Configuration, IDToken, UserInfoResponse } from 'openid-client'
import { timedOut, withTimeout } from '../lib/withTimeout.ts'
import { describeOidcError, getFailureKind } from './describeOidcError.ts'
import { fetchBounded } from './fetchBounded.ts'
import type { OidcClient, OidcConfig, OidcEvent, OidcFailureKind, OidcFlow, OidcIdentity } from './oidcClient.ts'

/** How long the provider's metadata is cached, in milliseconds. */
const metadataMs = 10 * 60_000
const defaultTimeoutMs = 8_000

interface Discovered {
  readonly configuration: Promise<Configuration>
  /** The config that it belongs to, as JSON. */
  readonly config: string
  readonly expiresAt: number
}

/**
 * Creates the client of an OpenID Connect provider: authorization code flow with PKCE. The signature of each ID token is verified.
 * @param options.config - Called for each log-in, so a new configuration applies immediately. `undefined`: single sign-on is off.
 * @param options.onEvent - Called for each log-in that fails at the provider.
 * @param options.timeoutMs - How long a log-in may wait for the provider, in milliseconds, separately at its start and its end. @default 8_000
 * @param options.now - Milliseconds since 1970. @default Date.now
 * @example
 * const client = createOidcClient({ config: () => undefined })
 * client.config() // undefined
 */
export const createOidcClient = ({
  config,
  onEvent = () => {},
  timeoutMs = defaultTimeoutMs,
  now = Date.now,
}: {
  config: () => OidcConfig | undefined
  onEvent?: (event: OidcEvent) => void
  timeoutMs?: number
  now?: (() => number) | undefined
}): OidcClient => {
  let discovered: Discovered | undefined

  /** The provider's metadata. Concurrent log-ins share one request for it, and a failed request is not cached. */
  const getConfiguration = (current: OidcConfig): Promise<Configuration> => {
    const text = JSON.stringify(current)
    if (discovered?.config === text && discovered.expiresAt > now()) return discovered.configuration
    const configuration = discover(current, timeoutMs)
    const started = { configuration, config: text, expiresAt: now() + metadataMs }
    discovered = started
    configuration.catch(() => {
      if (discovered === started) discovered = undefined
    })
    return configuration
  }

  const run = async <T>(
    step: OidcEvent['step'],
    work: (configuration: Configuration) => Promise<T>,
  ): Promise<T | OidcFailureKind> => {
    const current = config()
    if (current === undefined) return 'failed'
    const fail = (state: OidcFailureKind, reason: string): OidcFailureKind => {
      onEvent({ event: 'oidc', step, state, reason })
      return state
    }
    try {
      const result = await withTimeout(getConfiguration(current).then(work), timeoutMs)
      return result === timedOut ? fail('unavailable', 'timeout') : result
    } catch (error) {
      return fail(getFailureKind(error), describeOidcError(error))
    }
  }

  return {
    config,
    start: (flow) =>
      run('start', async (configuration) => {
        const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
        const url = buildAuthorizationUrl(configuration, {
          redirect_uri: flow.redirectUri,
          scope: (config()?.scopes ?? []).join(' '),
          state: flow.state,
          nonce: flow.nonce,
          code_challenge: await calculatePKCECodeChallenge(flow.codeVerifier),
          code_challenge_method: 'S256',
        })
        // Browsers open it, and a `javascript:` URL would run as a part of the dashboard.
        if (!isHttpUrl(url)) throw new TypeError('the authorization endpoint of the provider is no http or https URL')
        return url
      }),
    finish: (flow, response) => {
      const { trustEmail = false, groups = [], groupsClaim = 'groups' } = config() ?? {}
      const claim = groups.length === 0 ? undefined : groupsClaim
      return run('finish', async (configuration) =>
        toIdentity(await exchangeCode(configuration, flow, { response, claim }), { trustEmail, claim }),
      )
    },
  }
}

const isHttpUrl = ({ protocol }: URL): boolean => protocol === 'https:' || protocol === 'http:'

/** Loads the provider's metadata. */
const discover = async ({ issuer, clientId, clientSecret = '' }: OidcConfig, timeoutMs: number) => {
  // Imported lazily: a service without single sign-on does not load it.
  const client = await import('openid-client')
  const { allowInsecureRequests, ClientSecretBasic, ClientSecretPost, customFetch } = client
  const basic = ClientSecretBasic(clientSecret)
  const post = ClientSecretPost(clientSecret)
  // The config allows http only for a provider on this machine.
  const isPlain = new URL(issuer).protocol === 'http:'
  return client.discovery(
    new URL(issuer),
    clientId,
    {},
    (server, metadata, body, headers) => {
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
      const authenticate = methods.includes('client_secret_basic') ? basic : post
      authenticate(server, metadata, body, headers)
    },
    {
      timeout: timeoutMs / 1_000,
      [customFetch]: fetchBounded,
      execute: [client.enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
    },
  )
}

/** The ID token, and where the email address and the groups are: there, or in the response of the provider's userinfo endpoint. */
interface Claims {
  readonly claims: IDToken
  readonly emailSource: IDToken | UserInfoResponse
  readonly groupSource: IDToken | UserInfoResponse
}

const exchangeCode = async (
  configuration: Configuration,
  flow: OidcFlow,
  { response, claim }: { response: string; claim: string | undefined },
): Promise<Claims> => {
  const { authorizationCodeGrant, fetchUserInfo } = await import('openid-client')
  const url = new URL(flow.redirectUri)
  url.search = response
  const tokens = await authorizationCodeGrant(configuration, url, {
    expectedState: flow.state,
    expectedNonce: flow.nonce,
    pkceCodeVerifier: flow.codeVerifier,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (claims === undefined) throw new TypeError('an ID token was required and is missing')
  // Many providers put the email address only there.
  const hasEmail = claims['email'] !== undefined && claims['email_verified'] !== undefined
  const hasGroups = claim === undefined || claims[claim] !== undefined
  const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined
  const more =
    (hasEmail && hasGroups) || !hasUserInfo
      ? claims
      : await fetchUserInfo(configuration, tokens.access_token, claims.sub)
  // Each from one of them: what is in the ID token may be missing there.
  return { claims, emailSource: hasEmail ? claims : more, groupSource: hasGroups ? claims : more }
}

const toIdentity = (
  { claims: { iss, sub }, emailSource, groupSource }: Claims,
  { trustEmail, claim }: { trustEmail: boolean; claim: string | undefined },
): OidcIdentity => {
  const { email, email_verified: verified } = emailSource
  const groups = claim === undefined ? [] : [groupSource[claim]].flat()
  return {
    issuer: iss,
    subject: sub,
    email: typeof email === 'string' ? email : undefined,
    // OpenID Connect Core section 5.1 has a boolean. Amazon Cognito and Apple send it as a string.
    isEmailVerified: verified === true || verified === 'true' || (verified === undefined && trustEmail),
    groups: groups.filter((group) => typeof group === 'string'),
  }
}
