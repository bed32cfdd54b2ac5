import type { AuditEntry } from '../storage/auditLog.ts'
import type { Change } from '../storage/changes.ts'
import type { Repositories } from '../storage/repositories.ts'
import { actorOf, viewerOf } from './handler.ts'
import type { Caller, ControlParts } from './handler.ts'

/** What is noted of a change. */
export interface Noted {
  /** Such as `app.edit`. */
  readonly action: string
  readonly subject: string
  readonly detail?: AuditEntry['detail']
  /** What caches of keys must forget. */
  readonly forget?: Change
}

/**
 * Changes what a user has, with its entry in the audit log: both or neither. Caches of keys are told once it is committed.
 * @param work - What it returns as text is a rejection, of which nothing is noted.
 * @param note - What to note of its result.
 */
export const change = async <Result>(
  { storage, keys, now }: Pick<ControlParts, 'storage' | 'keys' | 'now'>,
  caller: Caller,
  work: (within: Repositories) => Promise<Result>,
  note: (result: Exclude<Result, string>) => Noted,
): Promise<Result> => {
  let noted: Noted | undefined
  const result = await storage.transaction(async (within) => {
    const done = await work(within)
    if (typeof done === 'string') return done
    noted = note(done as Exclude<Result, string>)
    const { action, subject, detail = null } = noted
    const userId = viewerOf(caller).user.id
    await within.auditLog.add({ at: now(), userId, actor: actorOf(caller), action, subject, ip: caller.ip, detail })
    return done
  })
  if (noted?.forget !== undefined) keys.forget([noted.forget])
  return result
}
