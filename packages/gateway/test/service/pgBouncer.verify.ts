import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { post } from '../startGateway.ts'
import { startPgBouncer } from '../storage/startPgBouncer.ts'
import type { PgBouncer } from '../storage/startPgBouncer.ts'
import { clusters } from './places.ts'
import type { PlaceKind } from './places.ts'
import { runKeyrail, writeConfig } from './serviceProcess.ts'
import { startTestService } from './testService.ts'
import type { TestService } from './testService.ts'
import { createVisitor } from './visitor.ts'
import type { Visitor } from './visitor.ts'

const read = '{"jsonrpc":"2.0","id":7,"method":"eth_blockNumber","params":[]}'
const serverConnections = 3
const perDay = 60

describe.each(clusters)('PgBouncer in transaction mode', needs('pgbouncer', 'redis-server'), ({ open }) => {
  let bouncer: PgBouncer
  let databaseUrl = ''
  let service: TestService
  let ann: Visitor

  const behindPgBouncer: PlaceKind = {
    name: 'PgBouncer',
    open: async () => {
      const place = await open()
      databaseUrl = place.environment['DATABASE_URL'] ?? ''
      bouncer = await startPgBouncer(databaseUrl, serverConnections)
      return {
        ...place,
        // Without Redis, PostgreSQL decides on quotas.
        environment: { ...place.environment, DATABASE_URL: bouncer.url, REDIS_URL: '' },
        close: async () => {
          await bouncer.stop()
          await place.close()
        },
      }
    },
  }
  const createAddress = async (): Promise<string> => {
    const created = await ann.get('POST /api/keys', {
      body: { name: randomBytes(4).toString('hex'), network: 'testnet' },
    })
    return created.url
  }
  const countSucceeded = async (): Promise<number> => {
    const { succeeded } = await ann.get('GET /api/metrics', { query: '?range=hour' })
    return succeeded
  }

  beforeAll(async () => {
    service = await startTestService(behindPgBouncer, {
      postgres: { transactionPooler: true },
      limits: { apiKeys: { perDay } },
    })
    ann = createVisitor(service.url)
    await ann.get('POST /api/account', {
      body: { email: 'ann@example.org', password: randomBytes(12).toString('base64url') },
    })
  })
  afterAll(() => service.close())

  test('two instances together never grant more than the quota, and count each call', async () => {
    const other = await service.startAnother()
    const address = await createAddress()
    const urls = [address, address.replace(service.url, other.url)]
    const statuses = await Promise.all(
      Array.from({ length: perDay * 2 }, async (_, index) => (await post(urls[index % 2] ?? '', read)).status),
    )
    const granted = statuses.filter((status) => status === 200).length
    // Without Redis, the last units may be reserved by the other instance.
    expect(granted).toBeGreaterThan(perDay / 2)
    expect(granted).toBeLessThanOrEqual(perDay)
    await expect.poll(countSucceeded).toBe(granted)
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    const { rows } = await client.query<{ count: string }>(
      // Autovacuum connects to the database too.
      "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
    )
    await client.end()
    expect(Number(rows[0]?.count)).toBeLessThanOrEqual(serverConnections)
  })

  test('callers with a known key do not notice a restart of PgBouncer, and the service recovers', async () => {
    const bob = createVisitor(service.url)
    await bob.get('POST /api/account', {
      body: { email: 'bob@example.org', password: randomBytes(12).toString('base64url') },
    })
    const { url: address } = await bob.get('POST /api/keys', { body: { name: 'one', network: 'testnet' } })
    expect((await post(address, read)).status).toBe(200)
    const [statuses] = await Promise.all([
      (async () => {
        const seen: number[] = []
        for (let call = 0; call < 20; call += 1) seen.push((await post(address, read)).status)
        return seen
      })(),
      bouncer.restart(),
    ])
    expect(new Set(statuses)).toEqual(new Set([200]))
    await expect.poll(() => bob.get('GET /api/keys').catch(() => undefined)).toBeDefined()
  })

  test('without the option, serve ends with the fix', async () => {
    const { postgres: _, ...config } = service.config
    const file = writeConfig(service.place.folder, config, 'plain.json')
    const { exitCode, stderr } = await runKeyrail(['serve', '--config', file], service.place.environment)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('postgres.transactionPooler')
  })
})
