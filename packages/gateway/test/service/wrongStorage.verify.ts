import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { checkServiceFile, isConfigError, openOperatorTools, startFromFile } from '../../src/index.ts'
import type { ServiceConfigInput } from '../../src/service/serviceConfig.ts'
import { redisUrlForms } from '../../src/storage/redis/parseRedisUrl.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import { databases } from '../storage/databases.ts'
import { startRedis } from '../usage/startRedis.ts'
import type { TestRedis } from '../usage/startRedis.ts'
import { unreachableUrl } from '../startGateway.ts'
import { getFreePort } from '../getFreePort.ts'
import { runKeyrail, writeConfig } from './serviceProcess.ts'

const toStop: (() => void)[] = []
afterEach(() => {
  for (const stop of toStop.splice(0)) stop()
})
const folder = (): string => {
  const created = mkdtempSync(join(tmpdir(), 'keyrail-wrong-'))
  toStop.push(() => rmSync(created, { recursive: true, force: true }))
  return created
}
const secret = randomBytes(48).toString('base64url')
const config = (storage = 'keyrail.db'): ServiceConfigInput => ({
  publicUrl: 'http://127.0.0.1:1',
  listen: { port: 0 },
  storage: { file: storage },
  networks: {
    testnet: { chainId: 1, upstreams: [{ url: unreachableUrl }] },
    mainnet: { chainId: 2, upstreams: [{ url: unreachableUrl }] },
  },
})

/** Gets the message of the config error that `work` throws. The command line exits with code 2 for it. */
const getConfigError = async (work: () => unknown): Promise<string> => {
  try {
    await work()
  } catch (error) {
    if (!isConfigError(error)) throw error
    expect(error.message).not.toContain('topsecret')
    return error.message
  }
  throw new Error('no error was thrown')
}
type Environment = Readonly<Record<string, string>>
const start = (file: string, environment: Environment): Promise<unknown> =>
  startFromFile({ file, write: () => {}, environment: { KEYRAIL_SECRET: secret, ...environment } })

// 15.34
describe('a URL in the environment', () => {
  const postgresForm = 'must be a URL such as postgres://user:password@host:5432/keyrail'
  const redisForm = `must be a URL such as ${redisUrlForms}`
  const badEscape = 'has a % that is not part of an escape such as %40'
  test.each([
    ['DATABASE_URL', 'mysql://keyrail:topsecret@127.0.0.1:3306/keyrail', `${postgresForm}: the protocol mysql: is`],
    ['DATABASE_URL', 'mariadb://keyrail:topsecret@127.0.0.1/keyrail', `${postgresForm}: the protocol mariadb: is`],
    ['DATABASE_URL', 'http://127.0.0.1/topsecret', `${postgresForm}: the protocol http: is`],
    ['DATABASE_URL', 'sqlite:///topsecret.db', `${postgresForm}: the protocol sqlite: is`],
    ['DATABASE_URL', 'redis://:topsecret@127.0.0.1', `${postgresForm}: the protocol redis: is`],
    ['DATABASE_URL', 'topsecret', postgresForm],
    ['DATABASE_URL', 'topsecret:topsecret', postgresForm],
    ['DATABASE_URL', 'postgres:topsecret', postgresForm],
    ['DATABASE_URL', 'postgres://u:topsecret@host:99999/keyrail', postgresForm],
    ['DATABASE_URL', 'postgres://u:topsecret%@host/keyrail', badEscape],
    ['REDIS_URL', 'postgres://:topsecret@127.0.0.1', `${redisForm}: the protocol postgres: is`],
    ['REDIS_URL', 'https://:topsecret@127.0.0.1', `${redisForm}: the protocol https: is`],
    ['REDIS_URL', 'topsecret', redisForm],
    ['REDIS_URL', 'redis:topsecret', redisForm],
    ['REDIS_URL', 'redis://:topsecret%zz@host', badEscape],
    ['REDIS_URL', 'redis://:topsecret@one:6379,two:6379', 'has several hosts: write redis+cluster:// for a cluster'],
    ['REDIS_URL', 'redis+cluster://:topsecret@one,two/1', 'has a database: a cluster only has database 0'],
    ['REDIS_URL', 'redis+sentinel://:topsecret@one,two', 'has no master name'],
  ])('%s=%s is a config error of --check, serve and the operator commands', async (name, url, said) => {
    const file = writeConfig(folder(), config())
    const environment = { KEYRAIL_SECRET: secret, [name]: url }
    const messages = [
      await getConfigError(() => checkServiceFile(file, { environment })),
      await getConfigError(() => start(file, environment)),
    ]
    if (name === 'DATABASE_URL') messages.push(await getConfigError(() => openOperatorTools(file, { environment })))
    for (const message of messages) expect(message).toContain(`${name} ${said}`)
  })

  test.each([
    ['DATABASE_URL', 'postgres://u:p%40ss@host/keyrail?sslmode=require'],
    ['DATABASE_URL', 'postgresql://host'],
    ['DATABASE_URL', 'postgres:///keyrail?host=/var/run/postgresql'],
    ['REDIS_URL', 'rediss://:p%40ss@host:6380/1'],
    ['REDIS_URL', 'redis://host'],
    ['REDIS_URL', 'rediss+cluster://u:p%40ss@one:7000,two:7000'],
    ['REDIS_URL', 'redis+sentinel://:p@one,two:26379/mymaster/0?sentinel_password=q'],
  ])('--check accepts %s=%s', (name, url) => {
    const file = writeConfig(folder(), config())
    expect(() => checkServiceFile(file, { environment: { KEYRAIL_SECRET: secret, [name]: url } })).not.toThrow()
  })
})

// 15.34
describe('a database that cannot be opened is a config error with the reason', () => {
  type Prepared = { readonly url?: string; readonly file?: string }
  test.each<[string, (place: string) => Prepared | Promise<Prepared>, string]>([
    [
      'nothing listens',
      async () => ({ url: `postgres://keyrail:topsecret@127.0.0.1:${await getFreePort()}/keyrail` }),
      'DATABASE_URL cannot be used: nothing listens at its host and port (ECONNREFUSED)',
    ],
    [
      'its host is unknown',
      () => ({ url: 'postgres://keyrail:topsecret@no-such-host.invalid/keyrail' }),
      'DATABASE_URL cannot be used: its host ',
    ],
    [
      'it is not an SQLite file',
      (place) => {
        writeFileSync(join(place, 'keyrail.db'), 'not a database, but long enough to look like one'.repeat(20))
        return {}
      },
      'storage.file cannot be used: it is not an SQLite database (SQLite 26)',
    ],
    ['it is a folder', (place) => ({ file: place }), 'storage.file cannot be used: it is a folder (EISDIR)'],
    [
      'it is from a newer version',
      async (place) => {
        await (await openStorage({ file: join(place, 'keyrail.db') })).close()
        const database = new DatabaseSync(join(place, 'keyrail.db'))
        database.exec('update schema_version set version = 999')
        database.close()
        return {}
      },
      'storage.file cannot be used: the database has version 999, but this program only knows versions up to ',
    ],
  ])('%s', async (_, prepare, said) => {
    const place = folder()
    const { url, file } = await prepare(place)
    const written = writeConfig(place, config(file))
    const environment: Environment = { KEYRAIL_SECRET: secret, ...(url === undefined ? {} : { DATABASE_URL: url }) }
    expect(await getConfigError(() => start(written, environment))).toContain(said)
    expect(await getConfigError(() => openOperatorTools(written, { environment }))).toContain(said)
  })

  test('its folder cannot be created', async () => {
    const place = folder()
    writeFileSync(join(place, 'a-file'), '')
    const written = writeConfig(place, config(join(place, 'a-file', 'folder', 'keyrail.db')))
    expect(await getConfigError(() => start(written, { KEYRAIL_SECRET: secret }))).toContain(
      'storage.file cannot be used: a part of its path is not a folder (ENOTDIR)',
    )
  })

  test('operator commands do not create the database of a service that never started', async () => {
    const place = folder()
    const written = writeConfig(place, config())
    expect(
      await getConfigError(() => openOperatorTools(written, { environment: { KEYRAIL_SECRET: secret } })),
    ).toContain('storage.file names a file that does not exist: start the service first, or check the path')
    expect(existsSync(join(place, 'keyrail.db'))).toBe(false)
  })

  const postgres = databases.filter(({ name }) => name === 'postgres')
  describe.each(postgres)('in PostgreSQL', (database) => {
    afterAll(() => database.stop())

    test.each<[string, (url: URL) => unknown, string]>([
      ['a wrong password', (url) => (url.password = 'topsecret'), 'its user or password is wrong (28P01)'],
      ['an unknown user', (url) => (url.username = 'topsecret'), 'its user or password is wrong (28P01)'],
      ['an unknown database', (url) => (url.pathname = '/topsecret'), 'the server has no such database (3D000)'],
    ])('%s', async (_, change, said) => {
      const options = await database.create()
      if (!('databaseUrl' in options)) throw new Error('unreachable')
      const url = new URL(options.databaseUrl)
      change(url)
      const file = writeConfig(folder(), config())
      const environment = { DATABASE_URL: url.href }
      expect(await getConfigError(() => start(file, environment))).toContain(`DATABASE_URL cannot be used: ${said}`)
    })
  })
})

describe('a Redis that may delete counters', needs('redis-server'), () => {
  const startRedisWith = (policy: string): Promise<TestRedis> =>
    startRedis(['maxmemory 100mb', `maxmemory-policy ${policy}`])

  test('is a config error that says how to fix it', async () => {
    const redis = await startRedisWith('volatile-lru')
    try {
      const file = writeConfig(folder(), config())
      expect(await getConfigError(() => start(file, { REDIS_URL: redis.url }))).toBe(
        'REDIS_URL names a Redis that may delete counters when its memory is full: its maxmemory-policy is volatile-lru. Set maxmemory-policy to noeviction, in redis.conf or in the parameters of the managed service',
      )
      // The storage is closed: another service can open it.
      await (await openStorage({ file: join(file, '..', 'keyrail.db') })).close()
    } finally {
      await redis.stop()
    }
  })

  test('is only reported in the log if Redis was unreachable when the service started', async () => {
    const redis = await startRedisWith('allkeys-lfu')
    await redis.kill()
    const file = writeConfig(folder(), config())
    let log = ''
    const service = await startFromFile({
      file,
      write: (lines: string) => void (log += lines),
      environment: { KEYRAIL_SECRET: secret, REDIS_URL: redis.url },
    })
    try {
      expect(log).not.toContain('noeviction')
      await redis.start()
      await expect.poll(() => log).toContain('its maxmemory-policy is allkeys-lfu')
    } finally {
      await service.close({ graceMs: 0, drainDelayMs: 0 })
      await redis.stop()
    }
  })

  test('starts with noeviction', async () => {
    const redis = await startRedisWith('noeviction')
    const service = await startFromFile({
      file: writeConfig(folder(), config()),
      write: () => {},
      environment: { KEYRAIL_SECRET: secret, REDIS_URL: redis.url },
    })
    expect(service.listening.port).toBeGreaterThan(0)
    await service.close({ graceMs: 0, drainDelayMs: 0 })
    await redis.stop()
  })
})

// 15.34
test('the command line exits with code 2 and the reason, without a stack', async () => {
  const place = folder()
  const file = writeConfig(place, config())
  const url = 'mysql://keyrail:topsecret@127.0.0.1:3306/keyrail'
  const unreachable = `postgres://keyrail:topsecret@127.0.0.1:${await getFreePort()}/keyrail`
  const runs = await Promise.all([
    runKeyrail(['serve', '--check', '--config', file], { KEYRAIL_SECRET: secret, DATABASE_URL: url }),
    runKeyrail(['serve', '--config', file], { KEYRAIL_SECRET: secret, DATABASE_URL: unreachable }),
  ])
  for (const [index, said] of [
    'keyrail: DATABASE_URL must be a URL such as postgres://user:password@host:5432/keyrail: the protocol mysql:',
    'keyrail: DATABASE_URL cannot be used: nothing listens at its host and port (ECONNREFUSED)',
  ].entries()) {
    const { exitCode, stderr, stdout } = runs[index] ?? {}
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(said)])
    expect(`${stderr}${stdout}`).not.toMatch(/topsecret|unexpected|\n\s+at /)
  }
})
