import type { OidcGroup } from '../../oidc/oidcClient.ts'
import { memberRoles } from '../../storage/tables.ts'
import type { MemberRole } from '../../storage/tables.ts'
import type { Repositories } from '../../storage/repositories.ts'
import { audit } from './accountContext.ts'
import type { AccountContext } from './accountContext.ts'
import { endMembership } from './endMembership.ts'
import { teamLimits } from './teamLimits.ts'

/** The most powerful role in each team that groups give. */
const toRoles = (groups: readonly string[], config: readonly OidcGroup[]): ReadonlyMap<string, MemberRole> => {
  const roles = new Map<string, MemberRole>()
  for (const { group, account, role } of config) {
    const known = roles.get(account)
    const isMore = known === undefined || memberRoles.indexOf(role) < memberRoles.indexOf(known)
    if (groups.includes(group) && isMore) roles.set(account, role)
  }
  return roles
}

/**
 * Gives a user the roles of the groups at the OpenID Connect provider, and takes away those that groups gave before. Roles of members who were
 * invited stay, and so do owners without whom a team would have none, or no limits. Nobody joins a full team. Call it in a transaction of its own.
 * @param user.groups - The groups that the provider asserts.
 * @param user.config - Which group gives which role.
 * @returns The ids of teams whose limits changed.
 */
export const syncGroupRoles = async (
  context: Pick<AccountContext, 'maxApps' | 'now'>,
  within: Repositories,
  {
    userId,
    groups,
    config,
    ip,
  }: { userId: string; groups: readonly string[]; config: readonly OidcGroup[]; ip: string | undefined },
): Promise<readonly string[]> => {
  const { members, teams } = within
  const at = context.now()
  const changed: string[] = []
  const roles = toRoles(groups, config)
  const given = (await members.listByUser(userId)).filter(({ byGroup }) => byGroup)
  const accountIds = [...new Set([...roles.keys(), ...given.map((one) => one.accountId)])]
  await teams.lockAll(accountIds, userId)
  for (const accountId of accountIds) {
    if ((await teams.find(accountId)) === undefined) continue
    const id = { accountId, userId }
    const role = roles.get(accountId)
    const member = await members.find(id)
    if (member?.byGroup === false || member?.role === role) continue
    const log = (action: string, detail: Readonly<Record<string, unknown>>) =>
      audit(within, {
        at,
        userId: accountId,
        actor: userId,
        action,
        subject: userId,
        ip,
        detail: { ...detail, groups: true },
      })
    if (role === undefined) {
      const detail = { groups: true }
      const ended = await endMembership(context, within, { ...id, actor: userId, action: 'member.remove', ip, detail })
      if (!('code' in ended)) changed.push(...ended)
    } else if (member === undefined) {
      if ((await members.list(accountId)).length >= teamLimits.members) continue
      await members.add({ ...id, role, byGroup: true, now: at })
      await log('member.join', { role })
    } else {
      const updated = await members.setRole({ ...id, role })
      if (typeof updated === 'object') await log('member.role', { from: member.role, role })
    }
  }
  await teams.recordLimits(changed)
  return changed
}
