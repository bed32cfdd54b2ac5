import { randomBytes } from 'node:crypto'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { post } from '../startGateway.ts'
import { createPostgresFolder } from '../storage/startPostgres.ts'
import type { PostgresFolder, PostgresServer } from '../storage/startPostgres.ts'
import { startTcpProxy } from '../startTcpProxy.ts'
import { clusters } from './places.ts'
import type { PlaceKind } from './places.ts'
import { startTestService } from './testService.ts'
import { createVisitor } from './visitor.ts'

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

/** How long PostgreSQL may take to write a transaction that nobody waits for: three times `wal_writer_delay`, and what a busy machine adds. */
const unsafeMs = 2_000

const read = '{"jsonrpc":"2.0","id":7,"method":"eth_blockNumber","params":[]}'

const runSql = async (server: PostgresServer, text: string): Promise<unknown> => {
  const client = new pg.Client({ connectionString: server.url('postgres') })
  await client.connect()
  const { rows } = await client.query(text)
  await client.end()
  return rows[0]
}

/** Starts a primary server, and a standby that commits each transaction before the primary reports it. */
const startPair = async (): Promise<{ folder: PostgresFolder; primary: PostgresServer; standby: PostgresServer }> => {
  const folder = await createPostgresFolder()
  toStop.push(async () => folder.remove())
  const first = await folder.start()
  await runSql(first, 'create database keyrail')
  await first.stop()
  const copy = folder.copy()
  const primary = await folder.start({ settings: ['synchronous_standby_names=*'] })
  writeFileSync(join(copy, 'standby.signal'), '')
  const { port } = primary
  appendFileSync(
    join(copy, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=keyrail password=${folder.password}'\n`,
  )
  const standby = await folder.start({ from: copy, settings: ['hot_standby=on'] })
  toStop.push(() => standby.stop())
  await expect
    .poll(async () => runSql(primary, 'select count(*)::int as standbys from pg_stat_replication'))
    .toEqual({ standbys: 1 })
  return { folder, primary, standby }
}

test.each(clusters)(
  'a standby takes over: callers with a known key notice nothing, and their calls are counted',
  { ...needs('redis-server'), timeout: 120_000 },
  async ({ open }) => {
    const { primary, standby } = await startPair()
    const proxy = await startTcpProxy(primary.port)
    toStop.push(proxy.close)
    const overProxy: PlaceKind = {
      name: 'a pair of servers',
      open: async () => {
        const place = await open()
        const url = new URL(primary.url('keyrail'))
        url.port = String(proxy.port)
        return { ...place, environment: { ...place.environment, DATABASE_URL: url.href } }
      },
    }
    const service = await startTestService(overProxy)
    toStop.push(service.close)
    const ann = createVisitor(service.url)
    await ann.get('POST /api/account', {
      body: { email: 'ann@example.org', password: randomBytes(12).toString('base64url') },
    })
    const { url: address } = await ann.get('POST /api/keys', { body: { name: 'one', network: 'testnet' } })

    const createKey = async (): Promise<number> =>
      (await ann.request('POST', '/api/keys', { name: 'after the failover', network: 'testnet' })).status
    const calls: { readonly at: number; readonly status: number }[] = []
    let isOver = false
    const calling = (async () => {
      while (!isOver) {
        const { status } = await post(address, read)
        calls.push({ at: performance.now(), status })
        await sleep(20)
      }
    })()
    await expect.poll(() => calls.length).toBeGreaterThan(20)
    const killedAt = performance.now()
    await primary.stop('SIGKILL')
    await expect.poll(createKey).toBe(503)
    await runSql(standby, 'select pg_promote()')
    proxy.switchTo(standby.port)
    await expect.poll(createKey).toBe(201)
    isOver = true
    await calling
    expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]))
    // Counts are written without waiting for the disk or the standby.
    const atRisk = calls.filter(({ at }) => at > killedAt - unsafeMs && at <= killedAt).length
    const countCalls = async (): Promise<number> =>
      (await ann.get('GET /api/metrics', { query: '?range=hour' })).succeeded
    await expect.poll(countCalls).toBeGreaterThanOrEqual(calls.length - atRisk)
    expect(await countCalls()).toBeLessThanOrEqual(calls.length)
  },
)
