import type { Invite } from '../../storage/invites.ts'
import type { User } from '../../storage/users.ts'
import type { AccountError } from './accountError.ts'
import type { Account } from './account.ts'

/** Who acts, for the audit log. */
export interface Actor {
  /** The id of a user who is an operator. @default 'operator', who has the operator's token or the command line */
  readonly actor?: string
  readonly ip?: string
}

/** Limits of a user that differ from the service's own. `null`: none; left out: the service's. */
export interface UserLimits {
  readonly perSecond?: number | null
  readonly burst?: number
  readonly perDay?: number | null
  readonly perMonth?: number | null
}

/** What an operator does to accounts: all of it is in the audit log. */
export interface Operator {
  /**
   * The accounts by id, `limit` of them after `after`.
   * @param page.mail - Only those whose email address holds this text, whatever its case.
   */
  listUsers(page: { after?: string; limit: number; email?: string }): Promise<readonly Account[]>
  findUser(by: { id: string } | { email: string }): Promise<Account | undefined>
  /** Makes an account, whatever the sign-up mode is. */
  addUser(request: Actor & { email: string; password: string; role?: User['role'] }): Promise<Account | AccountError>
  /**
   * Makes an invite, which works once. Rejected where sign-up is closed.
   * @param request.mail - If given, the only email address that it is for.
   * @param request.validMs - @default 604_800_000, 7 days
   * @returns The invite, and its text `kri_…`, a secret that is shown this once.
   */
  inviteUser(
    request: Actor & { email?: string; validMs?: number },
  ): Promise<{ readonly invite: Invite; readonly text: string } | AccountError>
  /** The invites that are open, the newest first. */
  listInvites(page: { limit: number }): Promise<readonly Invite[]>
  /** @returns Whether there was such an invite. */
  removeInvite(request: Actor & { id: string }): Promise<boolean>
  /** Disables an account, which ends its sessions and stops its keys and tokens at once, or enables it again. */
  setUserState(request: Actor & { id: string; state: User['state'] }): Promise<Account | AccountError>
  /** Makes a user an operator, or no longer one. */
  setUserRole(request: Actor & { id: string; role: User['role'] }): Promise<Account | AccountError>
  /** @param request.limits - `null`: the service's own. */
  setUserLimits(request: Actor & { id: string; limits: UserLimits | null }): Promise<Account | AccountError>
  /**
   * Makes a one-time link by which the user sets a new password; a link from before no longer works. The password stays until then.
   * @param request.validMs - @default 86_400_000, a day
   * @returns The link's token `krl_…`, a secret that is shown this once, and when it ends.
   */
  resetLink(
    request: Actor & { id: string; validMs?: number },
  ): Promise<{ readonly text: string; readonly expiresAt: number } | AccountError>
}
