import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import type { ExternalProgramName } from '../../../../scripts/externalPrograms.ts'
import { borrowDatabase } from '../storage/lendDatabases.ts'
import { startRedis } from '../usage/startRedis.ts'

/** The storage of a tested service. */
export interface Place {
  /** A folder for the files of the test. */
  readonly folder: string
  /** The environment variables of the service. */
  readonly environment: Readonly<Record<string, string>>
  /** Folders and files that must hold no secret. */
  readonly written: readonly string[]
  /** The `storage` of the config. */
  readonly storage?: { readonly file: string }
  readonly close: () => Promise<void>
}

/** A kind of storage. */
export interface PlaceKind {
  readonly name: string
  /** The programs that it needs. */
  readonly programs?: readonly ExternalProgramName[]
  readonly open: () => Promise<Place>
}

const createFolder = (): string => mkdtempSync(join(tmpdir(), 'keyrail-service-'))
const secret = (): Record<string, string> => ({ KEYRAIL_SECRET: randomBytes(48).toString('base64url') })

/** One process with SQLite. */
export const sqlite: PlaceKind = {
  name: 'SQLite',
  open: async () => {
    const folder = createFolder()
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
  programs: ['redis-server'],
  open: async () => {
    const folder = createFolder()
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

/** Storage for several instances. */
export const clusters: readonly PlaceKind[] = [postgresAndRedis]

/** All kinds of storage. */
export const places: readonly PlaceKind[] = [sqlite, ...clusters]

/** Declares a suite for each kind of storage. It is skipped if a program is missing. */
export const describeKinds = <Kind extends PlaceKind>(
  kinds: readonly Kind[],
  title: string,
  factory: (kind: Kind) => void,
): void => {
  for (const kind of kinds)
    describe(`${title} on ${kind.name}`, needs(...(kind.programs ?? [])), () => {
      factory(kind)
    })
}
