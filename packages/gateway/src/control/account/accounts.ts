import type { OidcClient } from '../../oidc/oidcClient.ts'
import type { AccountMailer } from './accountEmails.ts'
import type { Account } from './account.ts'
import type { ActingAccount } from './actingAccount.ts'
import type { ServerSecret } from '../../lib/secrets/serverSecret.ts'
import type { AccessToken } from '../../storage/accessTokens.ts'
import type { Factor } from '../../storage/factors.ts'
import type { Identity } from '../../storage/identities.ts'
import type { Change } from '../../storage/changes.ts'
import type { Storage } from '../../storage/openStorage.ts'
import type { AccountError } from './accountError.ts'
import type { PasswordHasher } from './createPasswordHasher.ts'
import type { OpenSession } from './openSession.ts'
import type { Operator } from './operator.ts'
import type { TeamFunctions } from './teamFunctions.ts'
import type { Viewer } from './viewer.ts'
import type { FactorOptions, FactorProof, NewFactorOptions, NewPasskey, PasskeyResponse } from './factorProof.ts'

/** A new session. */
export interface LoggedIn {
  readonly viewer: Viewer
  /** The session's secret, for the cookie only. */
  readonly token: string
  /** The latest time at which it expires, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** A log-in whose password is right, and that still needs a second factor. */
export interface PendingLogIn {
  /** A secret, for the cookie only. It binds the log-in to the browser. */
  readonly pending: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/** A log-in at the OpenID Connect provider. */
export interface SignOnStart {
  /** The provider's URL at which the user logs in. */
  readonly url: string
  /** A secret, for the cookie only. */
  readonly token: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/** The origin of a request. */
export interface Origin {
  /** The client's IP address, after applying `trustedProxies`. */
  readonly ip: string
  readonly userAgent?: string | undefined
}

/** The origin of a request, and of the page that sent it. */
export interface FactorOrigin extends Origin {
  /** The origin of the dashboard, such as `https://node.example`. */
  readonly site: string
}

/** A new personal access token with its secret. */
export interface NewAccessToken {
  readonly accessToken: AccessToken
  /** `krp_…`, a secret. */
  readonly text: string
}

/** Whether sign-up is open, invite-only or closed. */
export type SignUpMode = 'open' | 'invite' | 'closed'

/**
 * Accounts: sign-up, log-in and everything that needs a password. Rejected requests are returned as `AccountError`, not thrown.
 * @throws {StorageError} from each function if the database is unavailable.
 */
export interface Accounts {
  /**
   * Creates an account and logs in.
   * @param request.link - Proves the email address: from the email that `requestSignUp` sends. Required if the service sends emails, unless it
   * sent the invite.
   */
  signUp(
    request: Origin & { email: string; password: string; invite?: string | undefined; link?: string | undefined },
  ): Promise<LoggedIn | AccountError>
  /** Sends a link to sign up with. An address that has an account gets an email that says so; the result is the same. */
  requestSignUp(request: Origin & { email: string; invite?: string | undefined }): Promise<true | AccountError>
  /** Sends a link to set a new password, if the address has an active account. The result is the same if it has none. */
  forgotPassword(request: Origin & { email: string }): Promise<true | AccountError>
  /** Sends a link that gives the viewer's account this address, or verifies the one that it has. The result is the same if the address is taken. */
  requestEmail(request: Origin & { viewer: Viewer; email: string }): Promise<true | AccountError>
  /**
   * Gives the viewer's account the address that a link was sent to. The address that it had before is notified.
   * @param request.link - A link that the viewer asked for.
   */
  verifyEmail(request: Origin & { viewer: Viewer; link: string }): Promise<Account | AccountError>
  /**
   * Creates a session, or a log-in that needs a second factor. An unknown email address takes as long as a wrong password.
   * @param request.current - The token of the browser's current session, which ends.
   */
  logIn(
    request: Origin & { email: string; password: string; current?: string | undefined },
  ): Promise<LoggedIn | PendingLogIn | AccountError>
  /**
   * Creates a link that logs in to an account once, within 15 minutes. The process remembers its hash, and nothing is stored. Only the program
   * that runs the service can create one: `keyrail dev` does, for its own account.
   * @param userId - The account's id.
   * @returns The link's secret, `krd_…`.
   */
  createLogInLink(userId: string): string
  /**
   * Creates a session with a link of `createLogInLink`, which uses it up.
   * @param request.current - The token of the browser's current session, which ends.
   */
  logInWithLink(
    request: Origin & { link: string; current?: string | undefined },
  ): Promise<LoggedIn | PendingLogIn | AccountError>
  /**
   * Starts a log-in at the OpenID Connect provider.
   * @returns The provider's URL to send the browser to, and the secret that binds the log-in to the browser, for a cookie only. It expires after
   * 10 minutes.
   */
  startSingleSignOn(request: Origin): Promise<SignOnStart | AccountError>
  /**
   * Finishes a log-in at the provider, and creates a session. An identity that is new is connected to the account with its email address, if the
   * provider and this service have both verified the address, or `current` is a session of the account. Without such an account, it signs up.
   * @param request.token - The browser's secret from `startSingleSignOn`.
   * @param request.response - The query that the provider added to the redirect URI.
   * @param request.invite - Required to sign up if sign-up is invite-only.
   * @param request.connect - Rejects identities whose email address is not that of the account of `current`. @default false
   * @param request.current - The token of the browser's current session, which ends.
   */
  finishSingleSignOn(
    request: Origin & {
      token: string | undefined
      response: string
      invite?: string | undefined
      connect?: boolean | undefined
      current?: string | undefined
    },
  ): Promise<LoggedIn | PendingLogIn | AccountError>
  /** How a log-in that is pending can be finished. */
  getLogInOptions(request: { pending: string | undefined; site: string }): Promise<FactorOptions | AccountError>
  /**
   * Finishes a log-in that is pending, once.
   * @param request.current - The token of the browser's current session, which ends.
   */
  finishLogIn(
    request: FactorOrigin & { pending: string | undefined; proof: FactorProof; current?: string | undefined },
  ): Promise<LoggedIn | AccountError>
  /** Starts a log-in with a passkey alone. @returns What the browser needs, and the secret that binds the log-in to it, for a cookie only. */
  startPasskeyLogIn(
    request: FactorOrigin,
  ): Promise<(FactorOptions & { readonly token: string; readonly expiresAt: number }) | AccountError>
  /** Logs in with a passkey that has verified the user. */
  logInWithPasskey(
    request: FactorOrigin & { token: string | undefined; passkey: PasskeyResponse; current?: string | undefined },
  ): Promise<LoggedIn | AccountError>
  /** How a session can prove a second factor again. */
  getConfirmOptions(request: { viewer: Viewer; site: string }): Promise<FactorOptions | AccountError>
  /** Proves a second factor again: for 10 minutes, sensitive actions then need no other confirmation. */
  confirmFactor(request: FactorOrigin & { viewer: Viewer; proof: FactorProof }): Promise<Viewer | AccountError>
  /** Lists the factors of the viewer, and how many recovery codes are unused. */
  listFactors(viewer: Viewer): Promise<{ readonly factors: readonly Factor[]; readonly recoveryCodes: number }>
  /** Starts adding a factor. Nothing is stored. */
  getNewFactorOptions(request: { viewer: Viewer; site: string }): Promise<NewFactorOptions | AccountError>
  /**
   * Adds a factor. The first one ends all sessions.
   * @returns The factor, and with the first one the recovery codes, which cannot be shown again, and a new session.
   */
  addFactor(
    request: FactorOrigin & {
      viewer: Viewer
      label: string
      totp?: { readonly setup: string; readonly code: string }
      passkey?: NewPasskey
    },
  ): Promise<
    | {
        readonly factor: Factor
        readonly recoveryCodes: readonly string[] | null
        readonly newSession: LoggedIn | null
      }
    | AccountError
  >
  /** @returns Whether the viewer had such a factor. */
  removeFactor(request: { viewer: Viewer; id: string; ip?: string }): Promise<boolean | AccountError>
  /** Replaces the recovery codes. @returns The new ones, which cannot be shown again. */
  renewRecoveryCodes(request: { viewer: Viewer; ip?: string }): Promise<readonly string[] | AccountError>
  /** Lists the identities at OpenID Connect providers that log in to the viewer's account. */
  listIdentities(viewer: Viewer): Promise<readonly Identity[]>
  /** Disconnects an identity, which then no longer logs in to the account. @returns Whether the viewer had one at this issuer. */
  removeIdentity(request: { viewer: Viewer; issuer: string; ip?: string }): Promise<boolean>
  /** Ends the session of a token. Does nothing if there is none. */
  logOut(token: string, origin?: Origin): Promise<void>
  /** Lists the sessions of the viewer that have not expired: the viewer's own first, then the last used one first. */
  listSessions(viewer: Viewer): Promise<readonly OpenSession[]>
  /** Ends a session of the viewer. @returns Whether there was one. */
  endSession(request: { viewer: Viewer; id: string; ip?: string }): Promise<boolean>
  /** Ends all sessions of the viewer except the one of the request. */
  endOtherSessions(request: { viewer: Viewer; ip?: string }): Promise<void>
  /** Finds the viewer of a session token. Sessions expire 7 days after their last use, and 30 days after log-in. */
  authenticate(token: string): Promise<Viewer | undefined>
  /** Finds the viewer of a personal access token. */
  authenticateToken(text: string): Promise<Viewer | undefined>
  /**
   * Finds the account that a request acts for, and the caller's role in it.
   * @param accountId - The account that the request names. @default that of the access token, or the personal one
   * @returns `undefined` if the caller is no member of it, or the access token belongs to another account.
   */
  findActingAccount(viewer: Viewer, accountId?: string): Promise<ActingAccount | undefined>
  /** Whether a text is the operator token. `false` if none is configured. */
  isOperatorToken(text: string): boolean
  /**
   * Confirms a sensitive action: requires a session younger than 15 minutes, or the password. An account without a password has to log in again.
   * An account with a second factor has to have proved it in the last 10 minutes instead.
   * Access tokens are always rejected.
   */
  confirm(viewer: Viewer, password?: string): Promise<true | AccountError>
  /** Changes the password, ends all sessions, removes all personal access tokens, and creates a new session. */
  changePassword(request: Origin & { viewer: Viewer; current: string; next: string }): Promise<LoggedIn | AccountError>
  /**
   * Deletes the account and everything it owns, except the audit log.
   * @param request.password - Not required from an account without one, whose session must be younger than 15 minutes.
   */
  deleteAccount(request: { viewer: Viewer; password?: string | undefined; ip?: string }): Promise<true | AccountError>
  /** Sets a new password with a one-time link, ends all sessions, removes all personal access tokens, and logs in. */
  resetPassword(request: Origin & { link: string; password: string }): Promise<LoggedIn | PendingLogIn | AccountError>
  /**
   * Creates a personal access token.
   * @param request.label - 1 to 64 characters.
   * @param request.scopes - At least one. The control API defines the valid scopes.
   * @param request.expiresAt - Milliseconds since 1970; `null` for no expiry.
   * @param request.accountId - The account that it belongs to. @default the personal one
   */
  createAccessToken(request: {
    viewer: Viewer
    accountId?: string
    label: string
    scopes: readonly string[]
    expiresAt: number | null
    ip?: string
  }): Promise<NewAccessToken | AccountError>
  /** Lists the viewer's tokens for an account. @param accountId - @default the personal one */
  listAccessTokens(viewer: Viewer, accountId?: string): Promise<readonly AccessToken[]>
  /** @returns Whether the viewer had such a token for the account. @param request.accountId - @default the personal one */
  removeAccessToken(request: { viewer: Viewer; accountId?: string; id: string; ip?: string }): Promise<boolean>
  /**
   * Deletes expired sessions, invites and links, and old audit log entries. Each log-in deletes some of them too.
   * @param stopped - Called between batches; return `true` to stop.
   */
  prune(stopped?: () => boolean): Promise<void>
  /** Accounts with several members. */
  readonly teams: TeamFunctions
  /** Account management for operators. */
  readonly operator: Operator
}

/** The options of `createAccounts`. */
export interface AccountsOptions {
  readonly storage: Storage
  /** Called for each sign-up, so a new configuration applies immediately. */
  readonly signUp: () => SignUpMode
  /** Whether users can log in by password. Called for each log-in. @default () => true */
  readonly passwordLogin?: (() => boolean) | undefined
  /** Single sign-on, and the base of the dashboard. It needs `secrets`. @default none */
  readonly oidc?: { readonly client: OidcClient; readonly siteUrl: () => string } | undefined
  /** The smallest burst that a user's limits may have: the highest weight of a method. @default () => 1 */
  readonly minBurst?: (() => number) | undefined
  /** How many apps a user may have, with all teams that share the user's limits. @default () => Infinity */
  readonly maxApps?: (() => number) | undefined
  /** The server secrets, newest first; the list may change. Without one, a deleted account's usage is forgotten immediately instead of at the end of the day. @default none */
  readonly secrets?: readonly ServerSecret[] | undefined
  /** A secret of at least 32 characters that grants operator access. @default none */
  readonly operatorToken?: string | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
  /** Called after each commit with the cached keys to invalidate. */
  readonly onChange?: ((changes: readonly Change[]) => void) | undefined
  /** Sends emails. @default none are sent */
  readonly mailer?: AccountMailer | undefined
  /** Hashes passwords. Use one per process. @default createPasswordHasher() */
  readonly passwords?: PasswordHasher | undefined
  /** Sign-ups at once from an IP address (a /64 of IPv6); after that one per minute. @default 20 */
  readonly signUpBurst?: number | undefined
  /** How many days audit log entries are retained. @default 400 */
  readonly auditDays?: number | undefined
}
