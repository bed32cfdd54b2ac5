import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresBinaries } from '../storage/postgresBinaries.ts'
import { startPostgres } from '../storage/startPostgres.ts'
import { freePort } from './freePort.ts'

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

const sqlite: PlaceKind = {
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

/** A Redis of a test's own, with a password. */
export const startRedis = async (): Promise<{ url: string; password: string; stop: () => Promise<void> }> => {
  const [port, password] = [await freePort(), randomBytes(12).toString('hex')]
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--requirepass', password]
  const server = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(server, 'exit')
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`redis-server ended with code ${code}`)))
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('Ready to accept connections')) resolve()
    })
  })
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    password,
    stop: async () => {
      server.kill('SIGTERM')
      await exited
    },
  }
}

const cluster: PlaceKind = {
  name: 'PostgreSQL and Redis',
  open: async () => {
    const folder = makeFolder()
    const [postgres, redis] = [await startPostgres(), await startRedis()]
    return {
      folder,
      environment: { ...secret(), DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url },
      written: [folder],
      close: async () => {
        await redis.stop()
        await postgres.stop()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
}

const hasRedis = ((): boolean => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

const mustRun = process.env['KEYRAIL_TEST_ALL'] === '1'
const hasCluster = hasRedis && postgresBinaries() !== undefined
if (!hasCluster && !mustRun)
  process.stdout.write('The service is not tested on PostgreSQL and Redis: apt-get install postgresql redis-server\n')

/** The places that the service is tested in. Where everything is to be tested, a server that is missing is a failure. */
export const places: readonly PlaceKind[] = [sqlite, ...(hasCluster || mustRun ? [cluster] : [])]
