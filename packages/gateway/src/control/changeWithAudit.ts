import type { AuditEntry } from '../storage/auditLog.ts'
import type { Change } from '../storage/changes.ts'
import type { Repositories } from '../storage/repositories.ts'
import { getActor, requireUserId } from './route.ts'
import type { Caller, ControlParts } from './route.ts'

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
 * @param work - Makes the change. If it returns a string, the change was rejected and nothing is logged.
 * @param toNote - Describes the result of `work` for the audit log.
 */
export const changeWithAudit = async <Result>(
  { storage, keys, now }: Pick<ControlParts, 'storage' | 'keys' | 'now'>,
  caller: Caller,
  work: (within: Repositories) => Promise<Result>,
  toNote: (result: Exclude<Result, string>) => AuditNote,
): Promise<Result> => {
  let forget: Change | undefined
  const result = await storage.transaction(async (within) => {
    const done = await work(within)
    if (typeof done === 'string') return done
    const note = toNote(done as Exclude<Result, string>)
    const { action, subject, detail = null } = note
    forget = note.forget
    const userId = requireUserId(caller)
    await within.auditLog.add({ at: now(), userId, actor: getActor(caller), action, subject, ip: caller.ip, detail })
    return done
  })
  if (forget !== undefined) keys.forget([forget])
  return result
}
