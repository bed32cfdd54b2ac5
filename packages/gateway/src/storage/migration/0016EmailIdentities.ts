import { sql } from 'kysely'
import { foldEmail, toEmailIdentity } from '../emailIdentity.ts'
import type { Db } from '../tables.ts'
import type { Migration } from './migration.ts'

const pageSize = 1_000

interface StoredEmail {
  readonly id: string
  readonly email: string
  readonly folded: string
}

const readPage = async ({ query }: Db, after: string): Promise<readonly StoredEmail[]> => {
  const { rows } = await sql<StoredEmail>`select id, email, email_folded as folded from users where id > ${after}
    order by id limit ${sql.lit(pageSize)}`.execute(query)
  return rows
}

/** Adds an entry to the audit log that operators see, unless the previous migration did. */
const report = async ({ query }: Db, id: string, action: string, detail: string | null): Promise<void> => {
  const { rows } = await sql`select 1 from audit_log
    where action = ${action} and subject = ${id} and coalesce(detail, '') = ${detail ?? ''}`.execute(query)
  if (rows.length > 0) return
  await sql`insert into audit_log (at, user_id, actor, action, subject, ip, detail)
    values (${Date.now()}, null, 'keyrail', ${action}, ${id}, null, ${detail})`.execute(query)
}

/**
 * Folds all email addresses by today's rules. Two accounts whose addresses only now look alike stay apart: the second one keeps what it has.
 * Operators see both in the audit log, as well as accounts whose address is no longer valid.
 */
export const foldEmails = async (db: Db): Promise<void> => {
  for (let page = await readPage(db, ''); page.length > 0; page = await readPage(db, page.at(-1)?.id ?? '')) {
    for (const { id, email, folded } of page) {
      if (toEmailIdentity(email) === undefined) await report(db, id, 'account.emailInvalid', null)
      const next = foldEmail(email)
      if (next === folded) continue
      const { rows } = await sql<{ id: string }>`select id from users where email_folded = ${next}`.execute(db.query)
      const [other] = rows
      if (other === undefined) await sql`update users set email_folded = ${next} where id = ${id}`.execute(db.query)
      else {
        await report(db, id, 'account.emailSimilar', JSON.stringify({ other: other.id }))
        await report(db, other.id, 'account.emailSimilar', JSON.stringify({ other: id }))
      }
    }
  }
  // Links to addresses work for an hour.
  const { rows: links } = await sql<{ sha256: Uint8Array; email: string; folded: string }>`select sha256, email,
    email_folded as folded from email_links`.execute(db.query)
  for (const { sha256, email, folded } of links)
    if (foldEmail(email) !== folded)
      await sql`update email_links set email_folded = ${foldEmail(email)} where sha256 = ${sha256}`.execute(db.query)
}

/** Domains in another form than before are folded to the same text. */
export const emailIdentities: Migration = { version: 16, statements: () => [], run: foldEmails }
