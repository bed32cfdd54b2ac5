import { audit } from './accountContext.ts'
import type { ThrottledContext } from './accountContext.ts'
import type { Repositories } from '../../storage/repositories.ts'

/**
 * Adds a failed log-in to the audit log. A flood of guesses does not flood the log.
 * @param entry.userId - `null`: of an unknown account.
 * @param entry.action - @default 'account.logInFailed'
 * @param within - The current transaction, if there is one.
 */
export const auditFailedLogIn = async (
  { storage, now, loggedFailures, loggedUnknownClients }: ThrottledContext,
  {
    userId,
    ip,
    action = 'account.logInFailed',
    detail,
  }: { userId: string | null; ip: string; action?: string; detail: Readonly<Record<string, unknown>> },
  within: Pick<Repositories, 'auditLog'> = storage,
): Promise<void> => {
  const [throttle, key] = userId === null ? [loggedUnknownClients, ''] : [loggedFailures, userId]
  if (throttle.waitMs(key) > 0) return
  throttle.record(key)
  const actor = userId ?? 'nobody'
  await audit(within, { at: now(), userId, actor, action, subject: userId, ip, detail })
}
