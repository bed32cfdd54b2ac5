import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { getProgram, needs } from '../../../../scripts/externalPrograms.ts'
import { createService, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import type { ServiceLogEntry } from '../../src/service/serviceLog.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import { chainIds, post } from '../startGateway.ts'
import { databases } from '../storage/databases.ts'
import { getFreePort } from '../getFreePort.ts'
import { places } from './places.ts'
import { startTestService } from './testService.ts'
import { createVisitor } from './visitor.ts'

const toStop: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const read = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
const readyz = async (url: string): Promise<unknown> => {
  const response = await fetch(`${url}/readyz`)
  return [response.status, await response.json()]
}
const notReady = [503, { status: 'unavailable', reason: 'database' }]

// 15.30
describe('a service whose storage rejects writes', () => {
  test('is not ready while its disk is full, and logs each fault at most once a second', needs('prlimit'), async () => {
    const [sqlite] = places
    if (sqlite === undefined) throw new Error('no test environment')
    const service = await startTestService(sqlite, { signUp: 'open' })
    toStop.push(service.close)
    const visitor = createVisitor(service.url)
    await visitor.get('POST /api/account', { body: { email: 'ann@example.org', password: 'plum tin roof gate' } })
    const { url: address } = await visitor.get('POST /api/keys', { body: { name: 'ci', network: 'testnet' } })
    expect((await post(address, read)).status).toBe(200)
    expect(await readyz(service.url)).toEqual([200, { status: 'ok' }])

    // Limits the size of files, which has the same effect as a full disk. The log is a pipe.
    const limitFiles = (bytes: string): void => {
      execFileSync(getProgram('prlimit'), ['--pid', String(service.process.child.pid), `--fsize=${bytes}:unlimited`])
    }
    const startedAt = performance.now()
    limitFiles('1')
    await expect.poll(() => readyz(service.url)).toEqual(notReady)
    const statuses: number[] = []
    for (let call = 0; call < 300; call += 1) statuses.push((await post(address, read)).status)
    const rejected = statuses.filter((status) => status === 503).length
    expect(rejected).toBeGreaterThan(100)

    const faults = () => service.process.lines().filter(({ event }) => event === 'fault')
    const counted = (): number => faults().reduce((sum, { count }) => sum + Number(count), 0)
    await expect.poll(counted).toBe(rejected)
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000)
    expect(faults().length).toBeLessThanOrEqual(seconds + 1)
    expect(faults()[0]).toMatchObject({ where: 'quota', code: expect.stringMatching(/^SQLite \d+$/) })
    const storeEntries = service.process.lines().filter(({ event }) => event === 'store')
    // Writes that fit into the existing files still succeed, so the database can be available in between.
    expect(storeEntries[0]).toMatchObject({
      store: 'database',
      state: 'unavailable',
      code: expect.stringMatching(/^(SQLite \d+|timeout)$/),
    })

    limitFiles('unlimited')
    await expect.poll(() => readyz(service.url)).toEqual([200, { status: 'ok' }])
    expect((await post(address, read)).status).toBe(200)
  })

  const postgres = databases.filter(({ name }) => name === 'postgres')
  describe.each(postgres)('in PostgreSQL', (database) => {
    afterAll(() => database.stop())

    test('is not ready while the database is read-only', async () => {
      const storage = await database.create()
      if (!('databaseUrl' in storage)) throw new Error('unreachable')
      const node = await startFakeUpstream(chainIds.testnet)
      toStop.push(node.stop)
      const port = await getFreePort()
      const network = { chainId: chainIds.testnet, upstreams: [{ url: node.url }] }
      const entries: ServiceLogEntry[] = []
      const service = await createService({
        config: parseServiceConfig({
          publicUrl: `http://127.0.0.1:${port}`,
          listen: { port },
          networks: { testnet: network, mainnet: network },
        }),
        secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
        storage,
        log: (entry) => entries.push(entry),
      })
      toStop.push(() => service.close({ graceMs: 0 }))
      const { url } = await service.listen()
      expect(await readyz(url)).toEqual([200, { status: 'ok' }])

      const admin = new pg.Client({ connectionString: storage.databaseUrl })
      await admin.connect()
      toStop.push(() => admin.end())
      const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
        await admin.query('set default_transaction_read_only = off')
        const { rows } = await admin.query<{ name: string }>('select quote_ident(current_database()) as name')
        await admin.query(`alter database ${rows[0]?.name} set default_transaction_read_only = ${value}`)
        await admin.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        )
      }
      await setReadOnly('on')
      await expect.poll(() => readyz(url)).toEqual(notReady)
      await setReadOnly('off')
      await expect.poll(() => readyz(url)).toEqual([200, { status: 'ok' }])
      // The log has the first cause. That is the end of its connection if a query was in flight then.
      expect([
        {
          event: 'store',
          store: 'database',
          state: 'unavailable',
          code: '25006',
          cause: 'the database is read-only: use the primary server',
        },
        {
          event: 'store',
          store: 'database',
          state: 'unavailable',
          code: '57P01',
          cause: 'the server closed the connection: check whether it is stopping',
        },
      ]).toContainEqual(entries.find(({ event }) => event === 'store'))
    })
  })
})
