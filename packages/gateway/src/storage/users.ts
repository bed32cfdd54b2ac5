import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import { recordChange } from './changes.ts'
import { createId } from './createId.ts'
import { foldText } from './foldText.ts'
import { holdRows } from './holdRows.ts'
import { inTransaction } from './inTransaction.ts'
import { fromJson, toJson } from './jsonObject.ts'
import type { Db, Tables } from './tables.ts'

/** An account. */
export interface User {
  readonly id: string
  /** As it was typed, without outer spaces. */
  readonly email: string
  /** The password's hash as PHC text. */
  readonly password: string
  readonly state: 'active' | 'disabled'
  readonly role: 'user' | 'operator'
  /** Limits that differ from the service's own, as the service wrote them. */
  readonly limits: Readonly<Record<string, unknown>> | null
  /** Milliseconds since 1970, like all times of the storage. */
  readonly createdAt: number
  /** The id of the user whose quota counter this one's API keys use: its own, or that of an account deleted today with the same email address. */
  readonly quotaOwner: string
}

/** The accounts. */
export interface Users {
  /** @returns The account, or `'emailTaken'`: email addresses are compared without regard to case. */
  create(user: { email: string; password: string; role?: User['role']; now: number }): Promise<User | 'emailTaken'>
  find(id: string): Promise<User | undefined>
  /** Finds an account, and holds it until the transaction ends: whoever begins a session of it waits for that. */
  hold(id: string): Promise<User | undefined>
  findByEmail(email: string): Promise<User | undefined>
  /** By id, `limit` of them after `after`; if `email` is given, only those whose email address holds that text, whatever its case. */
  list(page: { after?: string; limit: number; email?: string }): Promise<readonly User[]>
  /** How many there are. */
  count(): Promise<number>
  /**
   * @param options.from - If given, only where this still is the hash.
   * @returns Whether there was such a user.
   */
  setPassword(id: string, password: string, options?: { from?: string }): Promise<boolean>
  /** @returns Whether there was such a user. */
  setRole(id: string, role: User['role']): Promise<boolean>
  /** Disables or enables all keys with it. @returns Whether there was such a user. */
  setState(id: string, state: User['state']): Promise<boolean>
  /** @returns Whether there was such a user. */
  setLimits(id: string, limits: User['limits']): Promise<boolean>
  /** Deletes an account, and all that it owns but the audit log. @returns Whether there was such a user. */
  remove(id: string): Promise<boolean>
}

const toUser = (row: Selectable<Tables['users']>): User => ({
  id: row.id,
  email: row.email,
  password: row.password,
  state: row.state,
  role: row.role,
  limits: fromJson(row.limits),
  createdAt: row.createdAt,
  quotaOwner: row.quotaOwner ?? row.id,
})

/** Makes the repository of accounts. */
export const createUsers = (db: Db): Users => {
  const { query } = db

  const change = (id: string, values: Partial<Selectable<Tables['users']>>): Promise<boolean> =>
    inTransaction(db, async (transaction) => {
      const changed = await transaction.query
        .updateTable('users')
        .set(values)
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
      if (changed !== undefined) await recordChange(transaction, { kind: 'user', id })
      return changed !== undefined
    })

  return {
    create: async ({ email, password, role = 'user', now }) => {
      const row = await query
        .insertInto('users')
        .values({
          id: createId('usr'),
          email: email.trim(),
          emailFolded: foldText(email),
          password,
          state: 'active',
          role,
          limits: null,
          createdAt: now,
          quotaOwner: null,
        })
        .onConflict((conflict) => conflict.column('emailFolded').doNothing())
        .returningAll()
        .executeTakeFirst()
      return row === undefined ? 'emailTaken' : toUser(row)
    },
    find: async (id) => {
      const row = await query.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toUser(row)
    },
    hold: async (id) => {
      const row = await holdRows(db, query.selectFrom('users').selectAll().where('id', '=', id)).executeTakeFirst()
      return row && toUser(row)
    },
    findByEmail: async (email) => {
      const row = await query
        .selectFrom('users')
        .selectAll()
        .where('emailFolded', '=', foldText(email))
        .executeTakeFirst()
      return row && toUser(row)
    },
    list: async ({ after = '', limit, email }) => {
      const all = query.selectFrom('users').selectAll().where('id', '>', after)
      const page =
        email === undefined
          ? all
          : all.where(
              (row) =>
                sql<boolean>`${row.ref('emailFolded')} like ${`%${foldText(email).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`} escape '\\'`,
            )
      const rows = await page.orderBy('id').limit(limit).execute()
      return rows.map(toUser)
    },
    count: async () => {
      const row = await query
        .selectFrom('users')
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return row.total
    },
    setPassword: async (id, password, { from } = {}) => {
      const one = query.updateTable('users').set({ password }).where('id', '=', id)
      const { numUpdatedRows } = await (from === undefined ? one : one.where('password', '=', from)).executeTakeFirst()
      return numUpdatedRows > 0n
    },
    setRole: async (id, role) => {
      const { numUpdatedRows } = await query.updateTable('users').set({ role }).where('id', '=', id).executeTakeFirst()
      return numUpdatedRows > 0n
    },
    setState: (id, state) => change(id, { state }),
    setLimits: (id, limits) => change(id, { limits: toJson(limits) }),
    remove: (id) =>
      inTransaction(db, async (transaction) => {
        const { numDeletedRows } = await transaction.query.deleteFrom('users').where('id', '=', id).executeTakeFirst()
        if (numDeletedRows > 0n) await recordChange(transaction, { kind: 'user', id })
        return numDeletedRows > 0n
      }),
  }
}
