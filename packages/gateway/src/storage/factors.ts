import type { Selectable } from 'kysely'
import { fromRow, toRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { toHashBytes } from './columnValues.ts'
import { changeRows, countRows } from './countRows.ts'
import { createSealedSecrets } from './sealedSecrets.ts'
import type { SealedSecrets } from './sealedSecrets.ts'
import { factorColumns } from './tables.ts'
import type { Db, Tables } from './tables.ts'
import { inTransaction, lockUser, unlessConflict } from './transaction.ts'

/** A second factor: an authenticator app or a passkey. */
export type Factor = RecordOf<typeof factorColumns>

/** The second factors of users, and their recovery codes, which are stored by their SHA-256 (lower-case hex). */
export interface Factors extends SealedSecrets {
  /** @returns The factor; `'notFound'` if there is no such user; `'factorsFull'` if the user has `max`; `'taken'` if the passkey belongs to an account. */
  add(factor: Factor & { max: number }): Promise<Factor | 'notFound' | 'factorsFull' | 'taken'>
  /** The oldest first. */
  list(userId: string): Promise<readonly Factor[]>
  findPasskey(credentialId: string): Promise<Factor | undefined>
  /**
   * Records a use, if its counter increased. A passkey without a counter always sends 0.
   * @returns `false` if the counter did not increase: the code was used before, or the passkey was cloned.
   */
  use(factor: { id: string; counter: number; now: number }): Promise<boolean>
  /** Removes a factor, and with the last one the recovery codes. @returns The factor, if the user had it. */
  remove(factor: { id: string; userId: string }): Promise<Factor | undefined>
  /** Removes all factors and recovery codes of a user. */
  removeAll(userId: string): Promise<void>
  /** Replaces the recovery codes. */
  setRecoveryCodes(userId: string, hashes: readonly string[]): Promise<void>
  /** @returns Whether the user had this code, which is then removed. */
  useRecoveryCode(code: { userId: string; hash: string }): Promise<boolean>
  countRecoveryCodes(userId: string): Promise<number>
}

const toFactor = (row: Selectable<Tables['factors']>): Factor => fromRow(factorColumns, row)

/** Creates the repository of second factors. */
export const createFactors = (db: Db): Factors => {
  const { query } = db
  const list: Factors['list'] = async (userId) => {
    const all = query.selectFrom('factors').selectAll().where('userId', '=', userId)
    return (await all.orderBy('createdAt').orderBy('id').execute()).map(toFactor)
  }
  const setFlag = async ({ query: within }: Db, userId: string, hasSecondFactor: 0 | 1): Promise<void> => {
    await within.updateTable('users').set({ hasSecondFactor }).where('id', '=', userId).execute()
    if (hasSecondFactor === 0) await within.deleteFrom('recoveryCodes').where('userId', '=', userId).execute()
  }
  return {
    add: ({ max, ...factor }) =>
      inTransaction(db, async (transaction) => {
        const { userId } = factor
        if (!(await lockUser(transaction, userId))) return 'notFound'
        if ((await createFactors(transaction).list(userId)).length >= max) return 'factorsFull'
        const row = toRow(factorColumns, factor) as Tables['factors']
        const added = await unlessConflict(transaction, () =>
          transaction.query.insertInto('factors').values(row).execute(),
        )
        if (added === 'conflict') return 'taken'
        await setFlag(transaction, userId, 1)
        return factor
      }),
    list,
    findPasskey: async (credentialId) => {
      const row = await query
        .selectFrom('factors')
        .selectAll()
        .where('credentialId', '=', credentialId)
        .executeTakeFirst()
      return row && toFactor(row)
    },
    use: async ({ id, counter, now }) => {
      const one = query.updateTable('factors').set({ counter, usedAt: now }).where('id', '=', id)
      return (await changeRows(one.where('counter', counter === 0 ? '=' : '<', counter))) > 0
    },
    remove: ({ id, userId }) =>
      inTransaction(db, async (transaction) => {
        await lockUser(transaction, userId)
        const row = await transaction.query
          .deleteFrom('factors')
          .where('id', '=', id)
          .where('userId', '=', userId)
          .returningAll()
          .executeTakeFirst()
        if ((await createFactors(transaction).list(userId)).length === 0) await setFlag(transaction, userId, 0)
        return row && toFactor(row)
      }),
    removeAll: (userId) =>
      inTransaction(db, async (transaction) => {
        await lockUser(transaction, userId)
        await transaction.query.deleteFrom('factors').where('userId', '=', userId).execute()
        await setFlag(transaction, userId, 0)
      }),
    setRecoveryCodes: (userId, hashes) =>
      inTransaction(db, async (transaction) => {
        await transaction.query.deleteFrom('recoveryCodes').where('userId', '=', userId).execute()
        const rows = hashes.map((hash) => ({ userId, sha256: toHashBytes(hash) }))
        await transaction.query.insertInto('recoveryCodes').values(rows).execute()
      }),
    useRecoveryCode: async ({ userId, hash }) =>
      (await changeRows(
        query.deleteFrom('recoveryCodes').where('userId', '=', userId).where('sha256', '=', toHashBytes(hash)),
      )) > 0,
    countRecoveryCodes: (userId) => countRows(query.selectFrom('recoveryCodes').where('userId', '=', userId)),
    ...createSealedSecrets(db, 'factors'),
  }
}
