import { audit } from './accountContext.ts'
import type { ThrottledContext } from './accountContext.ts'

/**
 * Adds a failed log-in to the audit log. A flood of guesses does not flood the log.
 * @param userId - `null`: of an unknown account.
 */
export const auditFailedLogIn = async (
  { storage, now, loggedFailures, loggedUnknownClients }: ThrottledContext,
  { userId, ip, detail }: { userId: string | null; ip: string; detail: Readonly<Record<string, unknown>> },
): Promise<void> => {
  const [throttle, key] = userId === null ? [loggedUnknownClients, ''] : [loggedFailures, userId]
  if (throttle.waitMs(key) > 0) return
  throttle.record(key)
  const actor = userId ?? 'nobody'
  await audit(storage, { at: now(), userId, actor, action: 'account.logInFailed', subject: userId, ip, detail })
}
