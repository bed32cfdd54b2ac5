import { setImmediate as nextRound } from 'node:timers/promises'
import type { Repositories } from '../../storage/repositories.ts'
import { sessionTimes } from './startSession.ts'

/** Where old things are, and how old they may be. */
export interface Pruning {
  readonly storage: Pick<Repositories, 'sessions' | 'invites' | 'oneTimeLinks' | 'leftUsers' | 'auditLog'>
  /** Milliseconds since 1970. */
  readonly now: number
  /** How long the audit log is kept. */
  readonly auditMs: number
}

/** Rows of each kind deleted at once: those who wait for the database hardly notice. */
const atOnce = 100

/**
 * Deletes some of what has ended: sessions, invites, one-time links, what is kept of deleted accounts for a day, and the audit log's oldest entries.
 * @returns Whether there may be more.
 */
export const pruneSome = async ({ storage, now, auditMs }: Pruning): Promise<boolean> => {
  const { sessions, invites, oneTimeLinks, leftUsers, auditLog } = storage
  const { totalMs, idleMs } = sessionTimes
  const deleted = [
    await sessions.prune({ createdBefore: now - totalMs, seenBefore: now - idleMs, limit: atOnce }),
    await invites.prune({ now, limit: atOnce }),
    await oneTimeLinks.prune({ now, limit: atOnce }),
    await leftUsers.prune({ now, limit: atOnce }),
    await auditLog.prune({ before: now - auditMs, limit: atOnce }),
  ]
  return deleted.includes(atOnce)
}

/**
 * Deletes all that has ended, a little at a time.
 * @param stopped - Asked between the steps.
 */
export const pruneAccounts = async (pruning: Pruning, stopped: () => boolean): Promise<void> => {
  while (!stopped() && (await pruneSome(pruning))) await nextRound()
}
