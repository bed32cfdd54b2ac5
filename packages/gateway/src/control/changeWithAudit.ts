import type { AuditEntry } from '../storage/auditLog.ts'
import type { Change } from '../storage/changes.ts'
import type { Repositories } from '../storage/repositories.ts'
import { findTeamAccount } from './account/actingAccount.ts'
import { hasScope } from './roles.ts'
import { getActor, requireAccount, requireViewer } from './route.ts'
import type { Caller, ControlParts } from './route.ts'

/** The caller lost the role while the request was handled. */
export class MembershipEnded extends Error {
  override readonly name = 'MembershipEnded'
}

/**
 * Locks the caller's role in a team until the transaction ends, and checks it again: it may have ended since the request was authorized. Call it
 * before the transaction locks anything else.
 * @param otherId - The id of another account to lock: two transactions that lock two teams in different orders would deadlock.
 * @throws {MembershipEnded} if the role no longer has the scope of the route.
 */
export const lockMembership = async (within: Repositories, caller: Caller, otherId?: string): Promise<void> => {
  const { id, kind } = requireAccount(caller)
  const ids = kind === 'personal' ? [] : [id]
  if (otherId !== undefined) ids.push(otherId)
  for (const one of ids.toSorted()) await within.teams.lock(one, 'shared')
  if (kind === 'personal') return
  const account = await findTeamAccount(within, { accountId: id, userId: requireViewer(caller).user.id })
  if (account === undefined || caller.scope === undefined || !hasScope(account.role, caller.scope))
    throw new MembershipEnded('the membership ended')
}

/** The audit log entry of a change. */
export interface AuditNote {
  /** Such as `app.edit`. */
  readonly action: string
  readonly subject: string
  readonly detail?: AuditEntry['detail']
  /** The cached keys to invalidate. */
  readonly forget?: Change
}

/**
 * Changes an account's data and adds the audit log entry in the same transaction. Invalidates cached keys after the commit.
 * @param parts.otherAccountId - The id of another account that is changed, which is locked too and whose audit log gets the entry too.
 * @param work - Makes the change. If it returns a string, the change was rejected and nothing is logged.
 * @param toNote - Describes the result of `work` for the audit log.
 * @throws {MembershipEnded} if the caller's role in a team ended.
 */
export const changeWithAudit = async <Result>(
  {
    storage,
    keys,
    now,
    otherAccountId,
  }: Pick<ControlParts, 'storage' | 'keys' | 'now'> & { readonly otherAccountId?: string },
  caller: Caller,
  work: (within: Repositories) => Promise<Result>,
  toNote: (result: Exclude<Result, string>) => AuditNote,
): Promise<Result> => {
  let forget: Change | undefined
  const result = await storage.transaction(async (within) => {
    await lockMembership(within, caller, otherAccountId)
    const done = await work(within)
    if (typeof done === 'string') return done
    const note = toNote(done as Exclude<Result, string>)
    const { action, subject, detail = null } = note
    forget = note.forget
    const userId = requireAccount(caller).id
    for (const id of otherAccountId === undefined ? [userId] : [userId, otherAccountId])
      await within.auditLog.add({
        at: now(),
        userId: id,
        actor: getActor(caller),
        action,
        subject,
        ip: caller.ip,
        detail,
      })
    return done
  })
  if (forget !== undefined) keys.forget([forget])
  return result
}
