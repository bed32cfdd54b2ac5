import type { Selectable } from 'kysely'
import { fromRow, toNewRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { createSealedSecrets } from './sealedSecrets.ts'
import type { SealedSecrets } from './sealedSecrets.ts'
import { webhookColumns } from './tables.ts'
import type { Db, Tables } from './tables.ts'
import { changeRows } from './countRows.ts'
import { inTransaction, lockUser } from './transaction.ts'

/** A URL that gets alerts. */
export type Webhook = RecordOf<typeof webhookColumns>

/** The webhooks of users. */
export interface Webhooks extends SealedSecrets {
  /** @returns The webhook, or `'webhooksFull'` if the user has `max`, or `'notFound'` if there is no such user. */
  create(webhook: Webhook & { max: number }): Promise<Webhook | 'webhooksFull' | 'notFound'>
  find(webhook: { id: string; userId: string }): Promise<Webhook | undefined>
  /** The oldest first. */
  list(userId: string): Promise<readonly Webhook[]>
  /** @returns Whether the webhook exists. */
  setSecret(webhook: { id: string; userId: string; sealed: Uint8Array }): Promise<boolean>
  /** @returns Whether the webhook existed. */
  remove(webhook: { id: string; userId: string }): Promise<boolean>
}

const toWebhook = (row: Selectable<Tables['webhooks']>): Webhook => fromRow(webhookColumns, row)

/** Creates the repository of webhooks. */
export const createWebhooks = (db: Db): Webhooks => {
  const { query } = db
  const list = async (userId: string): Promise<readonly Webhook[]> => {
    const all = query.selectFrom('webhooks').selectAll().where('userId', '=', userId)
    return (await all.orderBy('createdAt').orderBy('id').execute()).map(toWebhook)
  }
  return {
    create: ({ max, ...webhook }) =>
      inTransaction(db, async (transaction) => {
        if (!(await lockUser(transaction, webhook.userId))) return 'notFound'
        if ((await createWebhooks(transaction).list(webhook.userId)).length >= max) return 'webhooksFull'
        await transaction.query.insertInto('webhooks').values(toNewRow(webhookColumns, webhook)).execute()
        return webhook
      }),
    find: async ({ id, userId }) => {
      const one = query.selectFrom('webhooks').selectAll().where('id', '=', id).where('userId', '=', userId)
      const row = await one.executeTakeFirst()
      return row && toWebhook(row)
    },
    list,
    setSecret: async ({ id, userId, sealed }) =>
      (await changeRows(
        query.updateTable('webhooks').set({ sealed }).where('id', '=', id).where('userId', '=', userId),
      )) > 0,
    remove: async ({ id, userId }) =>
      (await changeRows(query.deleteFrom('webhooks').where('id', '=', id).where('userId', '=', userId))) > 0,
    ...createSealedSecrets(db, 'webhooks'),
  }
}
