import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** A Redis server for one test file. */
export interface TestRedis {
  /** Includes the password. */
  readonly url: string
  readonly password: string
  /** Suspends the process (SIGSTOP). */
  hang(): void
  resume(): void
  /** Kills the process; its data is lost. */
  kill(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  stop(): Promise<void>
}

const program = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'redis-server'))
  .find((file) => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })

/** Whether Redis is installed. With KEYRAIL_TEST_ALL a missing Redis fails the tests instead of skipping them. */
export const hasRedis = program !== undefined || process.env['KEYRAIL_TEST_ALL'] === '1'
const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const whenReady = (server: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let printed = ''
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`redis-server exited with code ${code}: ${printed}`)))
    server.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (printed.includes('Ready to accept connections')) resolve()
    })
  })

/** Starts Redis on a free port, in a temporary folder, with a random password. */
export const startRedis = async (): Promise<TestRedis> => {
  if (program === undefined) throw new Error('Redis is not installed: apt-get install redis-server')
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-redis-'))
  const password = randomBytes(16).toString('hex')
  const port = await freePort()
  const config = join(folder, 'redis.conf')
  // In a file, because other users can read the command line.
  writeFileSync(
    config,
    `bind 127.0.0.1\nport ${port}\nrequirepass ${password}\nsave ""\nappendonly no\ndir ${folder}\n`,
    { mode: 0o600 },
  )
  let server: ChildProcess | undefined
  const killOnExit = (): void => void server?.kill('SIGKILL')
  process.once('exit', killOnExit)
  const start = async (): Promise<void> => {
    server = spawn(program, [config], { stdio: ['ignore', 'pipe', 'ignore'] })
    await whenReady(server)
  }
  const kill = async (): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
  }
  await start()
  return {
    url: `redis://:${password}@127.0.0.1:${port}/0`,
    password,
    hang: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    kill,
    start,
    stop: async () => {
      process.off('exit', killOnExit)
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
