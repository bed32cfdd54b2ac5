import type { Invite } from '../../storage/invites.ts'
import type { Team } from '../../storage/teams.ts'
import type { User } from '../../storage/users.ts'
import type { AccountError } from './accountError.ts'
import type { Account } from './account.ts'

/** The actor of an operator action, for the audit log. */
export interface Actor {
  /** The id of an operator's account. @default 'operator', for the operator token or the command line */
  readonly actor?: string
  readonly ip?: string
}

/** A user's limits. `null`: no limit; left out: the service's limit. */
export interface UserLimits {
  readonly perSecond?: number | null
  readonly burst?: number
  readonly perDay?: number | null
  readonly perMonth?: number | null
}

/** Account management for operators. Each change is in the audit log. */
export interface Operator {
  /**
   * Lists accounts ordered by id, at most `limit` after the id `after`.
   * @param page.email - Only accounts whose email address contains this text, ignoring letter case.
   */
  listUsers(page: { after?: string; limit: number; email?: string }): Promise<readonly Account[]>
  findUser(by: { id: string } | { email: string }): Promise<Account | undefined>
  /** Creates an account in any sign-up mode. */
  addUser(request: Actor & { email: string; password: string; role?: User['role'] }): Promise<Account | AccountError>
  /**
   * Creates an invite, which works once. Rejected if sign-up is closed.
   * @param request.email - The only email address that may use it. @default any
   * @param request.send - Whether to send it to `email`. @default false
   * @param request.validMs - @default 604_800_000, 7 days
   * @returns The invite, and its secret `kri_…`, which cannot be shown again.
   */
  inviteUser(
    request: Actor & { email?: string; validMs?: number; send?: boolean },
  ): Promise<{ readonly invite: Invite; readonly text: string } | AccountError>
  /** Lists the open invites, newest first. */
  listInvites(page: { limit: number }): Promise<readonly Invite[]>
  /** @returns Whether there was such an invite. */
  removeInvite(request: Actor & { id: string }): Promise<boolean>
  /** Disables an account, which immediately ends its sessions and stops its keys and tokens, or enables it. */
  setUserState(request: Actor & { id: string; state: User['state'] }): Promise<Account | AccountError>
  /** Makes a user an operator, or an operator a user. */
  setUserRole(request: Actor & { id: string; role: User['role'] }): Promise<Account | AccountError>
  /** Removes all second factors and recovery codes, ends all sessions, and notifies the user by email. */
  resetSecondFactor(request: Actor & { id: string }): Promise<Account | AccountError>
  /** @param request.limits - `null` for the service's limits. */
  setUserLimits(request: Actor & { id: string; limits: UserLimits | null }): Promise<Account | AccountError>
  /** Lists teams ordered by id, at most `limit` after the id `after`. */
  listTeams(page: { after?: string; limit: number }): Promise<readonly Team[]>
  findTeam(id: string): Promise<Team | undefined>
  /** Disables a team, whose keys and tokens then stop working, or enables it. */
  setTeamState(request: Actor & { id: string; state: User['state'] }): Promise<Team | AccountError>
  /** Gives a team limits and a quota of its own. @param request.limits - `null`: it shares those of the user who created it. */
  setTeamLimits(request: Actor & { id: string; limits: UserLimits | null }): Promise<Team | AccountError>
  /** Makes a user an owner of a team, who may not be a member yet. */
  addTeamOwner(request: Actor & { id: string; userId: string }): Promise<Team | AccountError>
  /**
   * Creates a one-time link for setting a new password. Earlier links stop working. The current password works until the link is used.
   * @param request.validMs - @default 86_400_000, a day
   * @returns The link's secret `krl_…`, which cannot be shown again, and its expiry in milliseconds since 1970.
   */
  resetLink(
    request: Actor & { id: string; validMs?: number },
  ): Promise<{ readonly text: string; readonly expiresAt: number } | AccountError>
}
