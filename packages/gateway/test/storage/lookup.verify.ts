import { CompiledQuery, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getAccessByHashSql, getAccessByKidSql } from '../../src/storage/accessSql.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import type { Db } from '../../src/storage/tables.ts'
import { databases } from './databases.ts'
import { now } from './fill.ts'
import { openRaw } from './openRaw.ts'

const apps = 50_000

/** Numbers in place of hashes: `n` for an app's key, plus 1,000,000 for an API key, plus 5,000,000 for a previous key. */
const toHash = (n: number): string => n.toString(16).padStart(64, '0')
const appKey = (n: number): string => toHash(n)
const apiKey = (n: number): string => toHash(1_000_000 + n)
const oldAppKey = (n: number): string => toHash(5_000_000 + n)

/** Created by the database: one by one, 100,000 keys would take minutes. */
const fill = async ({ query, kind }: Db): Promise<void> => {
  const hash = (number: string): string =>
    kind === 'sqlite' ? `unhex(printf('%064x', ${number}))` : `decode(lpad(to_hex(${number}), 64, '0'), 'hex')`
  const numbers = `with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${apps - 1})`
  const insert = (into: string, values: string): Promise<unknown> =>
    sql.raw(`insert into ${into} ${numbers} select ${values} from numbers`).execute(query)

  await insert(
    'users (id, email, email_folded, password, state, role, created_at)',
    "'usr_' || n, n || '@example.org', n || '@example.org', 'x', 'active', 'user', 0",
  )
  await insert(
    'apps (id, user_id, name, name_folded, description, use_case, chain, services, networks, require_jwt, version, created_at)',
    "'app_' || n, 'usr_' || n, 'app', 'app', '', 'Wallet', 'ETH', '[\"Node API\"]', '[\"mainnet\"]', 0, 1, 0",
  )
  const columns =
    'id, user_id, app_id, kind, network, slot, name, description, ending, state, version, created_at, old_until, sha256, old_sha256'
  const rest = `'', '', 'abcd', 'active', 1, 0, ${now}`
  await insert(
    `keys (${columns})`,
    `'key_a' || n, 'usr_' || n, 'app_' || n, 'app', null, null, ${rest}, ${hash('n')}, ${hash('5000000 + n')}`,
  )
  await insert(
    `keys (${columns})`,
    `'key_b' || n, 'usr_' || n, null, 'testnet', 'testnet', 1, ${rest}, ${hash('1000000 + n')}, ${hash('6000000 + n')}`,
  )
  await insert(
    'jwt_keys (kid, app_id, alg, public_pem, fingerprint, label, created_at)',
    "'kid_' || n, 'app_' || n, 'ES256', 'pem', 'f' || n, '', 0",
  )
  await insert(
    'allow_entries (id, app_id, type, value, label, created_at)',
    "'alw_' || n, 'app_' || n, 'method', 'eth_call', '', 0",
  )
  // PostgreSQL does this automatically after a while.
  await sql`analyze`.execute(query)
}

/** The query plan, and its lines that read a whole table. */
const explainQuery = async (
  { query, kind }: Db,
  text: string,
  value: unknown,
): Promise<{ plan: string; scans: string[] }> => {
  const explain = kind === 'sqlite' ? 'explain query plan' : 'explain'
  const { rows } = await query.executeQuery<Record<string, unknown>>(CompiledQuery.raw(`${explain} ${text}`, [value]))
  const lines = rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'] ?? row['queryPlan']))
  return { plan: lines.join('\n'), scans: lines.filter((line) => /\bSCAN\b|Seq Scan/.test(line)) }
}

describe.each(databases)('with 100,000 keys on $name', (database) => {
  let options: StorageOptions
  let storage: Storage
  beforeAll(async () => {
    options = await database.create()
    storage = await openStorage(options)
    const { db, close } = await openRaw(options)
    await fill(db)
    await close()
  })
  afterAll(async () => {
    await storage.close()
    await database.stop()
  })

  test.each([
    ['a hash', getAccessByHashSql, Buffer.from(appKey(7), 'hex'), ['keys_sha256', 'keys_old_sha256']],
    ['a kid', getAccessByKidSql, 'kid_7', ['keys_app']],
  ] as const)('a key is found by %s through indexes alone', async (_, statement, value, indexes) => {
    const { db, close } = await openRaw(options)
    try {
      const { plan, scans } = await explainQuery(db, statement(db.kind), value)
      for (const index of indexes) expect(plan).toContain(index)
      expect(scans).toEqual([])
    } finally {
      await close()
    }
  })

  test('finds each key, current or previous', async () => {
    for (const n of [0, 1, 4_999, apps - 1]) {
      expect(await storage.findAccess(appKey(n))).toMatchObject({
        keyId: `key_a${n}`,
        old: false,
        app: { id: `app_${n}`, allow: [{ id: expect.any(String) as unknown, type: 'method', value: 'eth_call' }] },
      })
      expect(await storage.findAccess(oldAppKey(n))).toMatchObject({ keyId: `key_a${n}`, old: true, endsAt: now })
      expect(await storage.findAccess(apiKey(n))).toMatchObject({ keyId: `key_b${n}`, app: null })
      expect(await storage.findAccess(toHash(9_000_000 + n))).toBeUndefined()
      expect(await storage.findAccessByKid(`kid_${n}`)).toMatchObject({ keyId: `key_a${n}` })
    }
  })
})
