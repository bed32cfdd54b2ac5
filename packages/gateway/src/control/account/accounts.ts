import type { Account } from './account.ts'
import type { ServerSecret } from '../../lib/secrets/serverSecret.ts'
import type { AccessToken } from '../../storage/accessTokens.ts'
import type { Change } from '../../storage/changes.ts'
import type { Storage } from '../../storage/openStorage.ts'
import type { Session } from '../../storage/sessions.ts'
import type { AccountError } from './accountError.ts'
import type { Passwords } from './createPasswords.ts'
import type { Operator } from './operator.ts'

/** Who makes a request: by a session, or by a personal access token. */
export interface Viewer {
  readonly user: Account
  /** Of a browser that is logged in; its hash is its name, and opens nothing. */
  readonly session?: Session & { readonly hash: string }
  /** Of an access token: what it may do. */
  readonly scopes?: readonly string[]
  /** Of an access token: its id. */
  readonly tokenId?: string
}

/** A new session. */
export interface LoggedIn {
  readonly viewer: Viewer
  /** The session's secret, for its cookie and nowhere else. */
  readonly token: string
  /** When it ends at the latest, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** Where a request came from. */
export interface Origin {
  /** The caller's IP address, as `trustedProxies` make it. */
  readonly ip: string
  readonly userAgent?: string | undefined
}

/** What is shown of a personal access token once, when it is made. */
export interface NewAccessToken {
  readonly accessToken: AccessToken
  /** `krp_…`, a secret. */
  readonly text: string
}

/** Who may sign up: everybody, who has an invite, or nobody. */
export type SignUpMode = 'open' | 'invite' | 'closed'

/**
 * The accounts: who signs up, who is logged in, and who may do what needs a password. Rejections are results.
 * @throws {StorageError} each function, where the database cannot be asked.
 */
export interface Accounts {
  /** Makes an account and logs in. */
  signUp(
    request: Origin & { email: string; password: string; invite?: string | undefined },
  ): Promise<LoggedIn | AccountError>
  /**
   * Makes a session. Costs the same for a email address that nobody has and for a wrong password.
   * @param request.current - The token of the session that the browser has, if one: it ends.
   */
  logIn(
    request: Origin & { email: string; password: string; current?: string | undefined },
  ): Promise<LoggedIn | AccountError>
  /** Ends the session of a token; it is no mistake if there is none. */
  logOut(token: string, origin?: Origin): Promise<void>
  /** Who has the session of a token. Sessions end 7 days after their last use, and 30 days after they began. */
  authenticate(token: string): Promise<Viewer | undefined>
  /** Whose personal access token it is. */
  authenticateToken(text: string): Promise<Viewer | undefined>
  /** Whether a text is the operator's token; never where none was set. */
  isOperatorToken(text: string): boolean
  /** Lets pass what needs a person: a session younger than 15 minutes, or the password. A token never passes. */
  confirm(viewer: Viewer, password?: string): Promise<true | AccountError>
  /** Changes the password, ends all sessions, and makes a new one. */
  changePassword(request: Origin & { viewer: Viewer; current: string; next: string }): Promise<LoggedIn | AccountError>
  /** Deletes the account and all that it owns but the audit log. */
  deleteAccount(request: { viewer: Viewer; password: string; ip?: string }): Promise<true | AccountError>
  /** Sets a new password by a one-time link's token, ends all sessions, removes all personal access tokens, and logs in. */
  resetPassword(request: Origin & { link: string; password: string }): Promise<LoggedIn | AccountError>
  /**
   * Makes a personal access token.
   * @param request.label - 1 to 64 characters.
   * @param request.scopes - At least one; which there are is for the control API to say.
   * @param request.expiresAt - Milliseconds since 1970; `null` never ends.
   */
  createAccessToken(request: {
    viewer: Viewer
    label: string
    scopes: readonly string[]
    expiresAt: number | null
    ip?: string
  }): Promise<NewAccessToken | AccountError>
  listAccessTokens(viewer: Viewer): Promise<readonly AccessToken[]>
  /** @returns Whether the viewer had such a token. */
  removeAccessToken(request: { viewer: Viewer; id: string; ip?: string }): Promise<boolean>
  /**
   * Deletes sessions, invites and links that have ended, and what is too old of the audit log. Each log-in deletes some of them too.
   * @param stopped - Asked between the steps.
   */
  prune(stopped?: () => boolean): Promise<void>
  /** What an operator does to accounts. */
  readonly operator: Operator
}

/** What accounts are made of. */
export interface AccountsOptions {
  readonly storage: Storage
  /** Asked each time, so that a new configuration acts at once. */
  readonly signUp: () => SignUpMode
  /** The server's secrets, the newest first; a list that may change. Without one, deleted accounts are not remembered until the day ends. @default none */
  readonly secrets?: readonly ServerSecret[] | undefined
  /** A secret of at least 32 characters, if there is one: who has it may do what an operator may. */
  readonly operatorToken?: string | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
  /** Told after each commit what a cache of keys must forget. */
  readonly onChange?: ((changes: readonly Change[]) => void) | undefined
  /** The passwords' hashing. @default createPasswords(), of which there must be one a process */
  readonly passwords?: Passwords | undefined
  /** Sign-ups at once from one IP address (a /64 of IPv6); then one a minute. @default 20 */
  readonly signUpBurst?: number | undefined
  /** For how many days the audit log is kept. @default 400 */
  readonly auditDays?: number | undefined
}
