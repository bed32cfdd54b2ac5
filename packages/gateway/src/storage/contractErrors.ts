import { fromRow, toNewRow } from './columns.ts'
import { contractErrorColumns } from './tables.ts'
import type { Db } from './tables.ts'
import { inTransaction, lockRows } from './transaction.ts'

/** The custom errors of the contracts that apps call, by which the dashboard decodes reverts. */
export interface ContractErrors {
  /** @returns Signatures, such as `error Foo(uint256 a)`; `undefined` if the user has no such app. */
  list(app: { appId: string; userId: string }): Promise<readonly string[] | undefined>
  /** Replaces the errors of an app. @returns Whether the user has the app. */
  set(app: { appId: string; userId: string; signatures: readonly string[] }): Promise<boolean>
}

/** Creates the repository of custom errors. */
export const createContractErrors = (db: Db): ContractErrors => {
  const selectApp = ({ query }: Db, { appId, userId }: { appId: string; userId: string }) =>
    query.selectFrom('apps').select('id').where('id', '=', appId).where('userId', '=', userId)
  return {
    list: async (app) => {
      if ((await selectApp(db, app).executeTakeFirst()) === undefined) return undefined
      const own = db.query.selectFrom('contractErrors').selectAll().where('appId', '=', app.appId)
      const row = await own.executeTakeFirst()
      return row === undefined ? [] : fromRow(contractErrorColumns, row).signatures
    },
    set: ({ appId, userId, signatures }) =>
      inTransaction(db, async (transaction) => {
        const app = lockRows(transaction, selectApp(transaction, { appId, userId }))
        if ((await app.executeTakeFirst()) === undefined) return false
        const row = toNewRow(contractErrorColumns, { appId, signatures })
        await transaction.query
          .insertInto('contractErrors')
          .values(row)
          .onConflict((conflict) => conflict.column('appId').doUpdateSet({ signatures: row.signatures }))
          .execute()
        return true
      }),
  }
}
