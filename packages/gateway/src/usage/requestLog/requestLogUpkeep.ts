import type { Storage } from '../../storage/openStorage.ts'
import { deleteRows } from '../../storage/steps.ts'
import { createPartitions, dropPartitions } from '../metering/dayPartitions.ts'
import type { Upkeep } from '../metering/startMaintenance.ts'
import { dayMs } from '../../lib/time.ts'

/** How long excerpts of params and responses are stored, in milliseconds. */
export const excerptsMs: number = dayMs

/** The primary key of both tables. */
const columns = 'key_id, at, id'

/**
 * Creates the maintenance of the request log. PostgreSQL drops the requests of whole days.
 * @param options.retentionMs - How long requests are stored, in milliseconds.
 */
export const createRequestLogUpkeep = (
  storage: Pick<Storage, 'db' | 'write'>,
  { retentionMs }: { retentionMs: number },
): Upkeep => {
  const { db } = storage
  const isPartitioned = db.kind === 'postgres'
  return {
    prepare: async (now) => {
      if (isPartitioned) await createPartitions(db, 'request_log', now)
    },
    prune: async ({ now, stopped }) => {
      const storedFrom = now - retentionMs
      if (isPartitioned) await dropPartitions(db, 'request_log', { storedFrom, now })
      // Only requests whose day had no partition yet are in the default one.
      const table = isPartitioned ? 'request_log_default' : 'request_log'
      await deleteRows(storage, { table, columns, where: 'at < ?', value: storedFrom }, stopped)
      await deleteRows(
        storage,
        { table: 'request_excerpts', columns, where: 'at < ?', value: now - excerptsMs },
        stopped,
      )
    },
  }
}

/**
 * Removes all requests of keys that no longer exist.
 * @throws {StorageError}
 */
export const removeRequests = async (
  storage: Pick<Storage, 'db' | 'write'>,
  keyIds: readonly string[],
): Promise<void> => {
  for (const keyId of keyIds)
    for (const table of ['request_log', 'request_excerpts'] as const)
      await deleteRows(storage, { table, columns, where: 'key_id = ?', value: keyId })
}
