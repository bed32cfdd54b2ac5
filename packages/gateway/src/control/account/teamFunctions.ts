import type { Member, MemberInvite } from '../../storage/members.ts'
import type { MemberRole } from '../../storage/tables.ts'
import type { TeamRules } from '../../storage/teams.ts'
import type { AccountError } from './accountError.ts'
import type { ActingAccount } from './actingAccount.ts'
import type { Viewer } from './viewer.ts'

/** A member, with the email address. */
export interface TeamMember extends Pick<Member, 'userId' | 'role' | 'createdAt'> {
  readonly email: string
}

/** A member's request about a team. */
export interface TeamRequest {
  readonly viewer: Viewer
  /** The team that the request acts for. */
  readonly account: ActingAccount
  readonly ip: string
}

/** Teams: accounts with several members. Each change is in the audit log of the team. */
export interface TeamFunctions {
  /** Lists the personal account of a user and the user's teams. An access token sees only its own account. */
  list(viewer: Viewer): Promise<readonly ActingAccount[]>
  /** Creates a team, whose only member is its owner. It shares the limits of that user. */
  create(request: Omit<TeamRequest, 'account'> & { name: string }): Promise<ActingAccount | AccountError>
  rename(request: TeamRequest & { name: string }): Promise<ActingAccount | AccountError>
  /** Sets what members need for access. Who requires a second factor must have one. */
  setRules(request: TeamRequest & { rules: TeamRules }): Promise<ActingAccount | AccountError>
  /** Deletes a team and everything that it owns, except the audit log. @param request.name - Its name, as confirmation. */
  remove(request: TeamRequest & { name: string }): Promise<true | AccountError>
  /** Lists the members. The only member of a personal account is its user. */
  listMembers(account: ActingAccount): Promise<readonly TeamMember[]>
  /** Gives a member another role. Only owners can do that with owners, and the last owner stays one. */
  setRole(request: TeamRequest & { userId: string; role: MemberRole }): Promise<true | AccountError>
  /** Removes a member, whose access tokens for the team then no longer work. The last owner stays. */
  removeMember(request: TeamRequest & { userId: string }): Promise<true | AccountError>
  /** Ends the caller's own membership. */
  leave(request: TeamRequest): Promise<true | AccountError>
  /**
   * Creates an invite, which works once, within 7 days, for the user with this email address.
   * @param request.send - Whether to send it to the address.
   * @returns The invite, and the URL of the page that accepts it, a secret.
   */
  invite(
    request: TeamRequest & { email: string; role: MemberRole; send: boolean; siteUrl: string },
  ): Promise<{ readonly invite: MemberInvite; readonly url: string } | AccountError>
  listInvites(account: ActingAccount): Promise<readonly MemberInvite[]>
  removeInvite(request: TeamRequest & { id: string }): Promise<true | AccountError>
  /** Uses up an invite. Only the user with its email address can, who must have confirmed it if the service sends email. @param request.invite - Its secret. */
  join(request: Omit<TeamRequest, 'account'> & { invite: string }): Promise<ActingAccount | AccountError>
}
