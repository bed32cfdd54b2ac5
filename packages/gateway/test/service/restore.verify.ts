import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, globSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { getProgram, needs } from '../../../../scripts/externalPrograms.ts'
import { post } from '../startGateway.ts'
import { startPostgres } from '../storage/startPostgres.ts'
import { sendToRedis, readCharged } from '../usage/clusterStores.ts'
import { startRedis } from '../usage/startRedis.ts'
import { describeKinds, sqlite } from './places.ts'
import type { Place, PlaceKind } from './places.ts'
import { getFreePort } from '../getFreePort.ts'
import { runKeyrail, startServe, writeConfig } from './serviceProcess.ts'
import { startTestService } from './testService.ts'
import type { TestService } from './testService.ts'
import { createVisitor } from './visitor.ts'

const toStop: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

/** A kind of storage, and how an operator backs it up, loses it and restores it. */
interface Engine extends PlaceKind {
  readonly backUp: (service: TestService, copy: string) => Promise<void>
  readonly destroy: (service: TestService) => Promise<void>
  readonly restore: (service: TestService, copy: string) => Promise<void>
}

const operate = async ({ configFile, place }: TestService, ...words: string[]): Promise<void> => {
  const { exitCode, stderr } = await runKeyrail([...words, '--config', configFile], place.environment)
  if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
}

const onSqlite: Engine = {
  ...sqlite,
  backUp: (service, copy) => operate(service, 'backup', copy),
  destroy: async ({ place }) => {
    for (const file of globSync(`${place.storage?.file}*`)) writeFileSync(file, randomBytes(10_000))
  },
  restore: async (service, copy) => {
    // It can only be checked that nobody uses a database that can be read.
    for (const file of globSync(`${service.place.storage?.file}*`)) rmSync(file)
    await operate(service, 'restore', copy)
  },
}

/** The folder of PostgreSQL with its own tools of the same version. */
const getBin = (): string => dirname(getProgram('pg_dump'))

const databaseUrl = ({ environment }: Place): string => environment['DATABASE_URL'] ?? ''

const dump = (url: string, copy: string): void =>
  void execFileSync(getProgram('pg_dump'), ['--format=custom', `--file=${copy}`, url])
const restoreDump = (url: string, copy: string): void =>
  void execFileSync(join(getBin(), 'pg_restore'), ['--exit-on-error', '--no-owner', `--dbname=${url}`, copy])

const onPostgres = (withRedis: boolean): Engine => ({
  name: withRedis ? 'PostgreSQL and Redis' : 'PostgreSQL',
  programs: ['pg_dump', ...(withRedis ? (['redis-server'] as const) : [])],
  open: async () => {
    const server = await startPostgres({ bin: getBin() })
    const redis = withRedis ? await startRedis() : undefined
    const place = await sqlite.open()
    const { storage: _, ...rest } = place
    return {
      ...rest,
      environment: {
        ...place.environment,
        DATABASE_URL: await server.createDatabase(),
        ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
      },
      close: async () => {
        await place.close()
        await redis?.stop()
        await server.stop()
      },
    }
  },
  backUp: async ({ place }, copy) => dump(databaseUrl(place), copy),
  destroy: async ({ place }) => {
    const client = new pg.Client({ connectionString: databaseUrl(place) })
    await client.connect()
    await client.query('drop schema public cascade; create schema public')
    await client.end()
    const redisUrl = place.environment['REDIS_URL']
    if (redisUrl !== undefined) await sendToRedis(redisUrl, ['flushall'])
  },
  restore: async ({ place }, copy) => restoreDump(databaseUrl(place), copy),
})

const engines: readonly Engine[] = [onSqlite, onPostgres(false), onPostgres(true)]

const body = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
const getStatus = async (address: string): Promise<number> => (await post(address, body)).status

describeKinds(engines, 'a backup', (engine) => {
  test('has everything that was confirmed before it started, and counts up to a second before', async () => {
    const service = await startTestService(engine)
    toStop.push(service.close)
    const visitor = createVisitor(service.url)
    const password = randomBytes(12).toString('base64url')
    const session = { email: 'ann@example.org', password }
    await visitor.get('POST /api/account', { body: session })
    const createKey = (name: string) => visitor.get('POST /api/keys', { body: { name, network: 'testnet' } })
    const valid = await createKey('valid')
    const revoked = await createKey('revoked')
    await visitor.get('POST /api/keys/{keyId}/revoke', { params: { keyId: revoked.key.id } })

    let isEnded = false
    let calls = 0
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isEnded) if ((await getStatus(valid.url)) === 200) calls += 1
      }),
    )
    toStop.push(() => {
      isEnded = true
      return load
    })
    await expect.poll(() => calls).toBeGreaterThan(200)
    const atLeast = calls
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const copy = join(service.place.folder, 'copy')
    await engine.backUp(service, copy)
    const later = await createKey('later')
    isEnded = true
    await load
    await service.process.stop()
    // The copy must not depend on the database.
    copyFileSync(copy, `${copy}.elsewhere`)
    await engine.destroy(service)
    await engine.restore(service, `${copy}.elsewhere`)

    const restored = await startServe(service.configFile, service.place.environment)
    toStop.push(() => restored.stop())
    const again = createVisitor(service.url)
    await again.get('POST /api/session', { body: session })
    expect(await getStatus(valid.url)).toBe(200)
    expect(await getStatus(revoked.url)).toBe(401)
    expect(await getStatus(later.url)).toBe(401)
    const { day } = await again.get('GET /api/usage')
    expect(day.used).toBeGreaterThanOrEqual(atLeast)
    // What was reserved ahead counts as used: a hundredth of the limit. Four calls were in flight.
    expect(day.used).toBeLessThanOrEqual(calls + (day.limit ?? 0) / 100 + 4)
  })
})

test(
  'a backup is tested beside the running service: keys work and can be shown, and the service counts nothing',
  needs('pg_dump', 'redis-server'),
  async () => {
    const [server, ownRedis] = [await startPostgres({ bin: getBin() }), await startRedis()]
    toStop.push(server.stop, ownRedis.stop)
    const open = async (): Promise<Place> => {
      const { storage: _, ...place } = await sqlite.open()
      const redis = await startRedis()
      const environment = {
        ...place.environment,
        DATABASE_URL: await server.createDatabase(),
        REDIS_URL: redis.url,
      }
      const close = async (): Promise<void> => {
        await place.close()
        await redis.stop()
      }
      return { ...place, environment, close }
    }
    const service = await startTestService({ name: 'PostgreSQL and Redis', open })
    toStop.push(service.close)
    const visitor = createVisitor(service.url)
    const session = { email: 'ann@example.org', password: randomBytes(12).toString('base64url') }
    const { account } = await visitor.get('POST /api/account', { body: session })
    const {
      key,
      apiKey,
      url: address,
    } = await visitor.get('POST /api/keys', { body: { name: 'one', network: 'testnet' } })
    for (let call = 0; call < 20; call += 1) expect(await getStatus(address)).toBe(200)
    const url = databaseUrl(service.place)
    const getCharged = async () => (await readCharged(url)).charged.get(`user:${account.id}`)
    await expect.poll(getCharged).toBe(20)

    const copy = join(service.place.folder, 'copy')
    dump(url, copy)
    const second = await server.createDatabase()
    restoreDump(second, copy)
    const port = await getFreePort()
    const publicUrl = `http://127.0.0.1:${port}`
    const file = writeConfig(service.place.folder, { ...service.config, publicUrl, listen: { port } }, 'copy.json')
    const environment = { ...service.place.environment, DATABASE_URL: second, REDIS_URL: ownRedis.url }
    const restored = await startServe(file, environment)
    toStop.push(() => restored.stop())

    const other = createVisitor(publicUrl)
    await other.get('POST /api/session', { body: session })
    expect(await other.get('POST /api/keys/{keyId}/reveal', { params: { keyId: key.id } })).toMatchObject({ apiKey })
    expect(await getStatus(address.replace(service.url, publicUrl))).toBe(200)
    expect((await other.get('GET /api/usage')).day.used).toBe(21)
    expect((await visitor.get('GET /api/usage')).day.used).toBe(20)
  },
)
