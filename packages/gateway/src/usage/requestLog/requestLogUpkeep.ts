import { setImmediate as nextRound } from 'node:timers/promises'
import type { Storage } from '../../storage/openStorage.ts'
import { createPartitions, dropPartitions } from '../metering/dayPartitions.ts'
import type { Upkeep } from '../metering/startMaintenance.ts'
import { toStep } from '../metering/usageRows.ts'
import { dayMs } from '../metering/usageTime.ts'

/** How long excerpts of params and responses are stored, in milliseconds. */
export const excerptsMs: number = dayMs

const deletedAtOnce = 250

type Table = 'request_log' | 'request_log_default' | 'request_excerpts'

/** Deletes rows, a few at a time. @param where - The condition, with one `?` for the value. */
const deleteRows = async (
  { db: { kind }, write }: Pick<Storage, 'db' | 'write'>,
  { table, where, value }: { table: Table; where: string; value: string | number },
  stopped: () => boolean,
): Promise<void> => {
  const text = `delete from ${table} where (key_id, at, id) in
    (select key_id, at, id from ${table} where ${where} limit ${deletedAtOnce}) returning at`
  while (!stopped()) {
    const [deleted = []] = await write([toStep(kind, text, [value])], { light: true })
    if (deleted.length < deletedAtOnce) return
    await nextRound()
  }
}

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
      await deleteRows(storage, { table, where: 'at < ?', value: storedFrom }, stopped)
      await deleteRows(storage, { table: 'request_excerpts', where: 'at < ?', value: now - excerptsMs }, stopped)
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
      await deleteRows(storage, { table, where: 'key_id = ?', value: keyId }, () => false)
}
