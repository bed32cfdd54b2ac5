import type { MemberRole } from '../storage/tables.ts'

/** The role in a team that a group at the provider gives. */
export interface OidcGroup {
  readonly group: string
  /** The id of the team. */
  readonly account: string
  readonly role: MemberRole
}

/** The OpenID Connect provider, and this service as its client. */
export interface OidcConfig {
  /** The provider's issuer URL. Its metadata is at `{issuer}/.well-known/openid-configuration`. */
  readonly issuer: string
  readonly clientId: string
  /** A secret. */
  readonly clientSecret?: string
  readonly scopes: readonly string[]
  /**
   * Whether an email address counts as verified if the provider does not say whether it is. Only for a provider that verifies all addresses.
   * @default false
   */
  readonly trustEmail?: boolean
  /** The claim that has the user's groups. @default 'groups' */
  readonly groupsClaim?: string
  /** Which group gives which role. @default none */
  readonly groups?: readonly OidcGroup[]
  /** The provider's name on the log-in page. */
  readonly label: string
}

/** The secrets of one log-in. They bind the provider's response to the browser that started it. */
export interface OidcFlow {
  readonly state: string
  readonly nonce: string
  /** The code verifier of PKCE. */
  readonly codeVerifier: string
  /** The URL that the provider sends the browser back to. It is compared exactly. */
  readonly redirectUri: string
}

/** Who logged in, as the provider asserts it. */
export interface OidcIdentity {
  /** The issuer of the ID token. */
  readonly issuer: string
  /** The user's id at the issuer. It never changes and is never reassigned. */
  readonly subject: string
  readonly email: string | undefined
  /** Whether the provider has verified that the user owns the email address. */
  readonly isEmailVerified: boolean
  /** The user's groups. Empty if the config uses none. */
  readonly groups: readonly string[]
}

/**
 * Why a log-in failed. `denied`: the user or the provider declined. `unavailable`: the provider does not respond. `failed`: everything else,
 * such as a response that is not valid.
 */
export type OidcFailureKind = 'denied' | 'unavailable' | 'failed'

/** A failed log-in, for the log. Contains no token, no code and no text of the provider. */
export interface OidcEvent {
  readonly event: 'oidc'
  readonly step: 'start' | 'finish'
  readonly state: OidcFailureKind
  /** Such as `invalid_client HTTP 401`, `OAUTH_TIMEOUT` or `ECONNREFUSED`. */
  readonly reason: string
}

/** Logs users in with an OpenID Connect provider. */
export interface OidcClient {
  /** Its config; `undefined`: single sign-on is off. */
  readonly config: () => OidcConfig | undefined
  /** @returns The provider's URL at which the user logs in, or why there is none. */
  readonly start: (flow: OidcFlow) => Promise<URL | OidcFailureKind>
  /**
   * Exchanges the code in the provider's response for the user's identity.
   * @param response - The query that the provider added to the redirect URI.
   */
  readonly finish: (flow: OidcFlow, response: string) => Promise<OidcIdentity | OidcFailureKind>
}
