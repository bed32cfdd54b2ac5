import type { Session } from '../../storage/sessions.ts'
import type { Account } from './account.ts'

/** The authenticated user of a request, by session or personal access token. */
export interface Viewer {
  readonly user: Account
  /** The browser session, identified by the hash of its secret. */
  readonly session?: Session & { readonly hash: string }
  /** The scopes of the access token. */
  readonly scopes?: readonly string[]
  /** The id of the access token. */
  readonly tokenId?: string
  /** The account that the access token belongs to: the user's personal one, or a team. */
  readonly accountId?: string
}
