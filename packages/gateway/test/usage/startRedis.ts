import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** A real Redis server of a test's own. */
export interface TestRedis {
  /** With the password in it. */
  readonly url: string
  readonly password: string
  /** Stops it from answering, without ending it. */
  hang(): void
  resume(): void
  /** Ends it at once; what it knew is lost. */
  kill(): Promise<void>
  /** Starts it again, at the same place. */
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

/** Whether there is a Redis to test with. Where everything is to be tested, one that is missing is a failure. */
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
    server.once('exit', (code) => reject(new Error(`redis-server ended with code ${code}: ${printed}`)))
    server.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (printed.includes('Ready to accept connections')) resolve()
    })
  })

/** Starts a Redis on a port and in a folder of its own, with a random password. */
export const startRedis = async (): Promise<TestRedis> => {
  if (program === undefined) throw new Error('there is no Redis: apt-get install redis-server')
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-redis-'))
  const password = randomBytes(16).toString('hex')
  const port = await freePort()
  const config = join(folder, 'redis.conf')
  // In a file, as a command line can be read by all.
  writeFileSync(
    config,
    `bind 127.0.0.1\nport ${port}\nrequirepass ${password}\nsave ""\nappendonly no\ndir ${folder}\n`,
    { mode: 0o600 },
  )
  let server: ChildProcess | undefined
  const endWithUs = (): void => void server?.kill('SIGKILL')
  process.once('exit', endWithUs)
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
      process.off('exit', endWithUs)
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
