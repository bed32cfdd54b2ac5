import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { borrowDatabase } from '../storage/lendDatabases.ts'
import { postgresBinaries } from '../storage/postgresBinaries.ts'
import { hasRedis, startRedis } from '../usage/startRedis.ts'

/** Where a service that is tested keeps its things. */
export interface Place {
  /** For files of the test. */
  readonly folder: string
  /** What the service's environment says of it. */
  readonly environment: Readonly<Record<string, string>>
  /** Folders and files that must hold no secret. */
  readonly written: readonly string[]
  /** What the config says of it. */
  readonly storage?: { readonly file: string }
  readonly close: () => Promise<void>
}

/** A kind of place. */
export interface PlaceKind {
  readonly name: string
  readonly open: () => Promise<Place>
}

const makeFolder = (): string => mkdtempSync(join(tmpdir(), 'keyrail-service-'))
const secret = (): Record<string, string> => ({ KEYRAIL_SECRET: randomBytes(48).toString('base64url') })

/** One process with SQLite. */
export const sqlite: PlaceKind = {
  name: 'SQLite',
  open: async () => {
    const folder = makeFolder()
    return {
      folder,
      environment: secret(),
      written: [folder],
      storage: { file: join(folder, 'keyrail.db') },
      close: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
}

const postgresAndRedis: PlaceKind = {
  name: 'PostgreSQL and Redis',
  open: async () => {
    const folder = makeFolder()
    const [databaseUrl, redis] = await Promise.all([borrowDatabase(), startRedis()])
    return {
      folder,
      environment: { ...secret(), DATABASE_URL: databaseUrl, REDIS_URL: redis.url },
      written: [folder],
      close: async () => {
        await redis.stop()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
}

const mustRun = process.env['KEYRAIL_TEST_ALL'] === '1'
const hasCluster = hasRedis && postgresBinaries() !== undefined
if (!hasCluster && !mustRun)
  process.stdout.write('The service is not tested on PostgreSQL and Redis: apt-get install postgresql redis-server\n')

/** Several processes can share these. Empty on a machine without PostgreSQL or Redis. Where everything is to be tested, that is a failure. */
export const clusters: readonly PlaceKind[] = hasCluster || mustRun ? [postgresAndRedis] : []

/** The places that the service is tested in. */
export const places: readonly PlaceKind[] = [sqlite, ...clusters]
