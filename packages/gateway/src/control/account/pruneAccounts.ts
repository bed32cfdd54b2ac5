import { setImmediate as nextRound } from 'node:timers/promises'
import type { Repositories } from '../../storage/repositories.ts'
import { sessionTimes } from './startSession.ts'

/** The records to prune, and the retention of the audit log. */
export interface Pruning {
  readonly storage: Pick<
    Repositories,
    'sessions' | 'invites' | 'members' | 'oneTimeLinks' | 'emailLinks' | 'identities' | 'leftUsers' | 'auditLog'
  >
  /** Milliseconds since 1970. */
  readonly now: number
  /** How long audit log entries are retained. */
  readonly auditMs: number
}

/** Rows of each kind per batch: small enough not to delay other queries. */
const batchSize = 100

/**
 * Deletes a batch of expired sessions, invites, one-time links, email links, used log-ins at a provider, records of deleted accounts, and old audit log entries.
 * @returns Whether there may be more to delete.
 */
export const pruneSome = async ({ storage, now, auditMs }: Pruning): Promise<boolean> => {
  const { sessions, invites, members, oneTimeLinks, emailLinks, identities, leftUsers, auditLog } = storage
  const { totalMs, idleMs } = sessionTimes
  const deleted = [
    await sessions.prune({ createdBefore: now - totalMs, seenBefore: now - idleMs, limit: batchSize }),
    await invites.prune({ now, limit: batchSize }),
    await members.pruneInvites({ now, limit: batchSize }),
    await oneTimeLinks.prune({ now, limit: batchSize }),
    await emailLinks.prune({ now, limit: batchSize }),
    await identities.prune({ now, limit: batchSize }),
    await leftUsers.prune({ now, limit: batchSize }),
    await auditLog.prune({ before: now - auditMs, limit: batchSize }),
  ]
  return deleted.includes(batchSize)
}

/**
 * Deletes everything that has expired, in batches.
 * @param stopped - Called between batches; return `true` to stop.
 */
export const pruneAccounts = async (pruning: Pruning, stopped: () => boolean): Promise<void> => {
  while (!stopped() && (await pruneSome(pruning))) await nextRound()
}
