import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, globSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { post } from '../startGateway.ts'
import { startPostgres } from '../storage/startPostgres.ts'
import { sqlite } from './places.ts'
import type { Place, PlaceKind } from './places.ts'
import { runKeyrail, startServe } from './serviceProcess.ts'
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

/** PostgreSQL with its own tools of the same version; `undefined` if they are not installed. */
const findTools = (): string | undefined =>
  globSync('/usr/lib/postgresql/*/bin')
    .sort()
    .findLast((folder) => globSync(join(folder, '{pg_dump,pg_restore,postgres,initdb}')).length === 4)
const tools = findTools()
if (tools === undefined) process.stdout.write('The drill on PostgreSQL is skipped: apt-get install postgresql\n')

const databaseUrl = ({ environment }: Place): string => environment['DATABASE_URL'] ?? ''

const onPostgres = (bin: string): Engine => ({
  name: 'PostgreSQL',
  open: async () => {
    const server = await startPostgres({ bin })
    const place = await sqlite.open()
    const { storage: _, ...rest } = place
    return {
      ...rest,
      environment: { ...place.environment, DATABASE_URL: await server.createDatabase() },
      close: async () => {
        await place.close()
        await server.stop()
      },
    }
  },
  backUp: async ({ place }, copy) => {
    execFileSync(join(bin, 'pg_dump'), ['--format=custom', `--file=${copy}`, databaseUrl(place)])
  },
  destroy: async ({ place }) => {
    const client = new pg.Client({ connectionString: databaseUrl(place) })
    await client.connect()
    await client.query('drop schema public cascade; create schema public')
    await client.end()
  },
  restore: async ({ place }, copy) => {
    execFileSync(join(bin, 'pg_restore'), ['--no-owner', `--dbname=${databaseUrl(place)}`, copy])
  },
})

const engines: readonly Engine[] = [onSqlite, ...(tools === undefined ? [] : [onPostgres(tools)])]

const body = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
const getStatus = async (address: string): Promise<number> => (await post(address, body)).status

describe.each(engines)('a backup on $name', (engine) => {
  test('has everything that was confirmed before it started, and counts up to a second before', async () => {
    const service = await startTestService(engine)
    toStop.push(service.close)
    const visitor = createVisitor(service.url)
    const password = randomBytes(12).toString('base64url')
    const session = { email: 'ann@example.org', password }
    await visitor.get('POST /api/account', { body: session })
    const createKey = (name: string) => visitor.get('POST /api/keys', { body: { name, network: 'testnet' } })
    const kept = await createKey('kept')
    const revoked = await createKey('revoked')
    await visitor.get('POST /api/keys/{keyId}/revoke', { params: { keyId: revoked.key.id } })

    let isEnded = false
    let calls = 0
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isEnded) if ((await getStatus(kept.address)) === 200) calls += 1
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
    expect(await getStatus(kept.address)).toBe(200)
    expect(await getStatus(revoked.address)).toBe(401)
    expect(await getStatus(later.address)).toBe(401)
    const { day } = await again.get('GET /api/usage')
    expect(day.used).toBeGreaterThanOrEqual(atLeast)
    // What was reserved ahead counts as used: a hundredth of the limit. Four calls were in flight.
    expect(day.used).toBeLessThanOrEqual(calls + (day.limit ?? 0) / 100 + 4)
  })
})
