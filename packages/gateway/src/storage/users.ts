import type { Selectable } from 'kysely'
import { recordChange } from './changes.ts'
import { createId } from './createId.ts'
import { foldEmail, isSameEmail, listFoldedForms } from './emailIdentity.ts'
import { listSharingTeams } from './limitGroup.ts'
import { inTransaction, lockRows, unlessConflict } from './transaction.ts'
import { fromRow, toNewRow, toRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { containsText } from './columnValues.ts'
import { userColumns } from './tables.ts'
import { changeRows, countRows } from './countRows.ts'
import type { Db, Tables } from './tables.ts'

/** An account. */
export interface User extends RecordOf<typeof userColumns> {
  /** The id of the user whose quota counter the API keys use: this user, or a user with the same email address who was deleted today. */
  readonly quotaOwner: string
}

/** Why an account cannot have an email address. `emailTaken`: another account has it. `emailSimilar`: another account has one that looks like it. */
export type EmailProblem = 'emailTaken' | 'emailSimilar'

/** The users, without the accounts of teams. Email addresses are compared by `toEmailIdentity`. */
export interface Users {
  /**
   * @param user.isVerified - Whether the user has proved that the email address is theirs. @default false
   * @returns The account, or why it was not created.
   */
  create(user: {
    email: string
    password: string
    role?: User['role']
    isVerified?: boolean
    now: number
  }): Promise<User | EmailProblem>
  find(id: string): Promise<User | undefined>
  /** Finds the id of the user whose quota counter the API keys of an account use, that of a team included. */
  findQuotaOwner(accountId: string): Promise<string>
  /** Finds and locks an account until the transaction ends. A new session of the account waits for that. */
  findForUpdate(id: string): Promise<User | undefined>
  findByEmail(email: string): Promise<User | undefined>
  /** Lists up to `limit` users by id, after `after`. With `email`: only those whose email address contains that text, ignoring case. */
  list(page: { after?: string; limit: number; email?: string }): Promise<readonly User[]>
  /** The number of users. */
  count(): Promise<number>
  /**
   * @param options.from - If given, only if this still is the hash.
   * @returns Whether there is such a user.
   */
  setPassword(id: string, password: string, options?: { from?: string }): Promise<boolean>
  /** Sets a verified email address. @returns Whether there is such a user, or why the address cannot be used. Call this in a transaction that has locked the user. */
  setVerifiedEmail(id: string, email: string, now: number): Promise<boolean | EmailProblem>
  /** @returns Whether there is such a user. */
  setRole(id: string, role: User['role']): Promise<boolean>
  /** Disables or enables the account and all its keys. @returns Whether there is such a user. */
  setState(id: string, state: User['state']): Promise<boolean>
  /** Sets the limits of a user, and of the teams that share them. @returns Whether there is such a user. */
  setLimits(id: string, limits: User['limits']): Promise<boolean>
  /** Deletes an account and everything that it owns, except the audit log. @returns Whether there was such a user. */
  remove(id: string): Promise<boolean>
}

const toUser = (row: Selectable<Tables['users']>): User => ({
  ...fromRow(userColumns, row),
  quotaOwner: row.quotaOwner ?? row.id,
})

/** Lists accounts whose email addresses look like this one. */
const listSimilar = ({ query }: Db, email: string): Promise<Selectable<Tables['users']>[]> =>
  query.selectFrom('users').selectAll().where('emailFolded', 'in', listFoldedForms(email)).execute()

const findProblem = async (within: Db, email: string, id?: string): Promise<EmailProblem | undefined> => {
  const others = (await listSimilar(within, email)).filter((row) => row.id !== id)
  if (others.some((row) => isSameEmail(row.email, email))) return 'emailTaken'
  return others.length === 0 ? undefined : 'emailSimilar'
}

const setVerifiedEmail = async (
  transaction: Db,
  { id, email, now }: { id: string; email: string; now: number },
): Promise<boolean | EmailProblem> => {
  const user = await transaction.query.selectFrom('users').select('email').where('id', '=', id).executeTakeFirst()
  // It may have its own address, although another account's looks like it: earlier versions allowed some of them.
  const isOther = !isSameEmail(user?.email, email)
  const problem = isOther ? await findProblem(transaction, email, id) : undefined
  if (problem !== undefined) return problem
  const result = await unlessConflict(transaction, () =>
    changeRows(
      transaction.query
        .updateTable('users')
        .set({ email: email.trim(), emailVerifiedAt: now, ...(isOther ? { emailFolded: foldEmail(email) } : {}) })
        .where('id', '=', id),
    ),
  )
  // Another account got it at the same time.
  if (result === 'conflict') return (await findProblem(transaction, email, id)) ?? 'emailTaken'
  return result > 0
}

/** Creates the repository of accounts. */
export const createUsers = (db: Db): Users => {
  const { query } = db

  /** Without the accounts of teams. */
  const selectPersons = () => query.selectFrom('users').where('id', 'not in', query.selectFrom('teams').select('id'))

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
    create: async ({ email, password, role = 'user', isVerified = false, now }) => {
      const problem = await findProblem(db, email)
      if (problem !== undefined) return problem
      const row = await query
        .insertInto('users')
        .values({
          ...toNewRow(userColumns, {
            id: createId('usr'),
            email: email.trim(),
            password,
            state: 'active',
            role,
            createdAt: now,
            emailVerifiedAt: isVerified ? now : null,
          }),
          emailFolded: foldEmail(email),
          quotaOwner: null,
        })
        .onConflict((conflict) => conflict.column('emailFolded').doNothing())
        .returningAll()
        .executeTakeFirst()
      // Created at the same time.
      return row === undefined ? ((await findProblem(db, email)) ?? 'emailTaken') : toUser(row)
    },
    find: async (id) => {
      const row = await selectPersons().selectAll().where('id', '=', id).executeTakeFirst()
      return row && toUser(row)
    },
    findQuotaOwner: async (id) => {
      const row = await query.selectFrom('users').select('quotaOwner').where('id', '=', id).executeTakeFirst()
      return row?.quotaOwner ?? id
    },
    findForUpdate: async (id) => {
      const row = await lockRows(db, selectPersons().selectAll().where('id', '=', id)).executeTakeFirst()
      return row && toUser(row)
    },
    findByEmail: async (email) => {
      const same = (await listSimilar(db, email)).filter((row) => isSameEmail(row.email, email))
      // Versions that did not convert domains could create two.
      const [row] = same.toSorted(
        (one, other) =>
          (one.emailVerifiedAt ?? Infinity) - (other.emailVerifiedAt ?? Infinity) || one.createdAt - other.createdAt,
      )
      return row && toUser(row)
    },
    list: async ({ after = '', limit, email }) => {
      const all = selectPersons().selectAll().where('id', '>', after)
      const page = email === undefined ? all : all.where(containsText('emailFolded', foldEmail(email)))
      const rows = await page.orderBy('id').limit(limit).execute()
      return rows.map(toUser)
    },
    count: () => countRows(selectPersons()),
    setPassword: async (id, password, { from } = {}) => {
      const one = query.updateTable('users').set({ password }).where('id', '=', id)
      return (await changeRows(from === undefined ? one : one.where('password', '=', from))) > 0
    },
    setVerifiedEmail: (id, email, now) =>
      inTransaction(db, (transaction) => setVerifiedEmail(transaction, { id, email, now })),
    setRole: async (id, role) => (await changeRows(query.updateTable('users').set({ role }).where('id', '=', id))) > 0,
    setState: (id, state) => change(id, { state }),
    setLimits: (id, limits) =>
      inTransaction(db, async (transaction) => {
        const ids = [id, ...(await listSharingTeams(transaction, id))]
        const users = transaction.query.updateTable('users').set(toRow(userColumns, { limits }))
        if ((await changeRows(users.where('id', 'in', ids))) === 0) return false
        // Last, because other writers wait from here to the commit.
        for (const user of ids) await recordChange(transaction, { kind: 'user', id: user })
        return true
      }),
    remove: (id) =>
      inTransaction(db, async (transaction) => {
        const removed = (await changeRows(transaction.query.deleteFrom('users').where('id', '=', id))) > 0
        if (removed) await recordChange(transaction, { kind: 'user', id })
        return removed
      }),
  }
}
