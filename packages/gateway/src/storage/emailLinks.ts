import { listColumns } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { toHashBytes } from './columnValues.ts'
import { foldEmail, isSameEmail } from './emailIdentity.ts'
import { inTransaction, lockRows } from './transaction.ts'
import { changeRows } from './countRows.ts'
import { emailLinkColumns } from './tables.ts'
import type { Db } from './tables.ts'

/** Proof of an email address: only its owner gets the link. */
export type EmailLink = RecordOf<typeof emailLinkColumns>

/** The unused links, stored by the SHA-256 (lower-case hex) of their token. */
export interface EmailLinks {
  /** Creates a link and removes an earlier one of the user, or, without a user, of the address. */
  create(link: {
    hash: string
    email: string
    userId: string | null
    expiresAt: number
    now: number
  }): Promise<EmailLink>
  /** Finds and locks a link until the transaction ends, so that it cannot be used twice. */
  find(hash: string): Promise<EmailLink | undefined>
  remove(hash: string): Promise<void>
  /** Removes the links of a user. */
  removeAll(userId: string): Promise<void>
  /** Deletes up to `limit` expired links. @returns How many. */
  prune(options: { now: number; limit: number }): Promise<number>
}

const columns = listColumns(emailLinkColumns)

/** Creates the repository of email links. */
export const createEmailLinks = (db: Db): EmailLinks => {
  const { query } = db
  return {
    create: ({ hash, email, userId, expiresAt, now }) =>
      inTransaction(db, async (transaction) => {
        const link = { email: email.trim(), userId, createdAt: now, expiresAt }
        const links = transaction.query.selectFrom('emailLinks').select(['sha256', 'email'])
        const found = await (
          userId === null
            ? links.where('userId', 'is', null).where('emailFolded', '=', foldEmail(email))
            : links.where('userId', '=', userId)
        ).execute()
        const earlier = found.filter((one) => userId !== null || isSameEmail(one.email, email))
        if (earlier.length > 0)
          await transaction.query
            .deleteFrom('emailLinks')
            .where(
              'sha256',
              'in',
              earlier.map(({ sha256 }) => sha256),
            )
            .execute()
        await transaction.query
          .insertInto('emailLinks')
          .values({ sha256: toHashBytes(hash), emailFolded: foldEmail(email), ...link })
          .execute()
        return link
      }),
    find: (hash) =>
      lockRows(
        db,
        query.selectFrom('emailLinks').select(columns).where('sha256', '=', toHashBytes(hash)),
      ).executeTakeFirst(),
    remove: async (hash) => {
      await query.deleteFrom('emailLinks').where('sha256', '=', toHashBytes(hash)).execute()
    },
    removeAll: async (userId) => {
      await query.deleteFrom('emailLinks').where('userId', '=', userId).execute()
    },
    prune: ({ now, limit }) => {
      const expired = query.selectFrom('emailLinks').select('sha256').where('expiresAt', '<=', now).limit(limit)
      return changeRows(query.deleteFrom('emailLinks').where('sha256', 'in', expired))
    },
  }
}
