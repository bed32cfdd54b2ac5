import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { getFreePort } from '../getFreePort.ts'
import { postgresBinaries } from './postgresBinaries.ts'

/** A real PostgreSQL server for one test file. */
export interface Postgres {
  /** Creates an empty database. @returns Its URL, including the password. */
  createDatabase(): Promise<string>
  readonly password: string
  stop(): Promise<void>
}

const run = promisify(execFile)

/** PostgreSQL does not run as root, so root starts it as the user `nobody`. */
export const unprivileged = async (): Promise<{ uid?: number; gid?: number }> => {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = await Promise.all(['-u', '-g'].map(async (flag) => (await run('id', [flag, 'nobody'])).stdout))
  return { uid: Number(uid), gid: Number(gid) }
}

/** Whether all users may access a folder. Root's home often denies it. */
const isOpenToAll = (folder: string): boolean =>
  (statSync(folder).mode & 0o001) !== 0 && (dirname(folder) === folder || isOpenToAll(dirname(folder)))

const whenReady = (server: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let printed = ''
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`postgres ended with code ${code}: ${printed}`)))
    server.stderr?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      // A standby accepts read-only connections.
      if (/ready to accept (read-only )?connections/.test(printed)) resolve()
    })
  })

/** PostgreSQL's programs, as a user that may run them, and a new data folder. */
export interface PostgresFolder {
  readonly password: string
  /** The data folder. */
  readonly data: string
  /** Starts a server on a free port. @param from - Its data folder. @default the one of this object */
  start(options?: { from?: string; settings?: readonly string[] }): Promise<PostgresServer>
  /** Copies the data folder of a stopped server. @returns The path of the copy. */
  copy(): string
  /** Deletes everything. */
  remove(): void
}

/** A running server. */
export interface PostgresServer {
  readonly port: number
  url(database: string): string
  /** Ends the server: `SIGINT` closes connections and finishes writes, `SIGKILL` is a crash. */
  stop(signal?: 'SIGINT' | 'SIGKILL'): Promise<void>
}

const defaultSettings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'max_connections=100']

/**
 * Creates the data folder of a server, with a random password.
 * @param options.bin - The folder of its programs. @default that of the npm package
 */
export const createPostgresFolder = async ({
  bin: found = postgresBinaries(),
}: { bin?: string } = {}): Promise<PostgresFolder> => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-postgres-'))
  const user = await unprivileged()
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
  let bin = found
  if (user.uid !== undefined && !isOpenToAll(found)) {
    cpSync(dirname(found), join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
    bin = join(folder, 'native/bin')
  }
  const data = join(folder, 'data')
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password)
  const options = { ...user, cwd: folder, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' } }
  await run(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'keyrail', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync', '-E', 'UTF8'],
    options,
  )

  const spawnServer = async (
    from: string,
    settings: readonly string[],
    attempts: number,
  ): Promise<{ server: ChildProcess; port: number }> => {
    const port = await getFreePort()
    const server = spawn(
      join(bin, 'postgres'),
      ['-D', from, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
      { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    try {
      await whenReady(server)
      return { server, port }
    } catch (error) {
      // Another process may have taken the port.
      if (attempts > 1) return spawnServer(from, settings, attempts - 1)
      throw error
    }
  }

  return {
    password,
    data,
    start: async ({ from = data, settings = [] } = {}) => {
      const { server, port } = await spawnServer(from, [...defaultSettings, ...settings], 3)
      const exited = once(server, 'exit')
      const endWithUs = (): void => void server.kill('SIGQUIT')
      process.once('exit', endWithUs)
      return {
        port,
        url: (database) => `postgres://keyrail:${password}@127.0.0.1:${port}/${database}`,
        stop: async (signal = 'SIGINT') => {
          process.off('exit', endWithUs)
          server.kill(signal)
          await exited
        },
      }
    },
    copy: () => {
      const copy = `${data}-copy`
      cpSync(data, copy, { recursive: true })
      chmodSync(copy, statSync(data).mode)
      const { uid, gid } = user
      if (uid === undefined || gid === undefined) return copy
      for (const path of ['.', ...readdirSync(copy, { recursive: true, encoding: 'utf8' })])
        chownSync(join(copy, path), uid, gid)
      return copy
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Starts PostgreSQL on a free port, in a new folder, with a random password. @param options - See {@link createPostgresFolder}. */
export const startPostgres = async (options?: { bin?: string }): Promise<Postgres> => {
  const { password, start, remove } = await createPostgresFolder(options)
  const server = await start()
  const admin = new pg.Pool({ connectionString: server.url('postgres'), max: 1 })
  // It gets an event when the server exits.
  admin.on('error', () => {})
  return {
    password,
    createDatabase: async () => {
      const name = `test_${randomBytes(6).toString('hex')}`
      await admin.query(`create database ${name}`)
      return server.url(name)
    },
    stop: async () => {
      await admin.end()
      await server.stop()
      remove()
    },
  }
}
