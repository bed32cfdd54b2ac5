import type { Write } from './database.ts'
import { toStep } from './steps.ts'
import type { Db } from './tables.ts'

/** The tables with the lease of some work, in their only row. */
type LeaseTable = 'usage_state' | 'alert_state'

/**
 * Takes or renews the lease of the instance that does some work. A lease is free if it expired, or if it lasts longer than any lease does: then the
 * clock of its owner was wrong.
 * @param lease.now - Milliseconds since 1970.
 * @returns Whether the instance has the lease.
 * @throws {StorageError}
 */
export const takeLease = async (
  { db: { kind }, write }: { readonly db: Db; readonly write: Write },
  table: LeaseTable,
  { leader, now, leaseMs }: { leader: string; now: number; leaseMs: number },
): Promise<boolean> => {
  const text = `update ${table} set leader = ?, leader_until = ?
    where leader = ? or leader_until <= ? or leader_until > ? returning id`
  const until = now + leaseMs
  const [rows = []] = await write([toStep(kind, text, [leader, until, leader, now, until])], { light: true })
  return rows.length > 0
}

/** Ends the lease of an instance, if it has it. @throws {StorageError} */
export const releaseLease = async (
  { db: { kind }, write }: { readonly db: Db; readonly write: Write },
  table: LeaseTable,
  leader: string,
): Promise<void> => {
  await write([toStep(kind, `update ${table} set leader = null, leader_until = 0 where leader = ?`, [leader])], {
    light: true,
  })
}
