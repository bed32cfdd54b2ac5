import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getProgram } from '../../../../scripts/externalPrograms.ts'
import { getFreePort } from '../getFreePort.ts'

/** A process of `redis-server`. */
export interface RedisProcess {
  readonly port: number
  /** Suspends the process (SIGSTOP). */
  hang(): void
  resume(): void
  /** Kills the process; its data is lost. */
  kill(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Kills the process and removes its folder. */
  stop(): Promise<void>
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const server of running) server.kill('SIGKILL')
})

const waitUntilStarted = (server: ChildProcess, isSentinel: boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    let printed = ''
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`redis-server exited with code ${code}: ${printed}`)))
    server.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (printed.includes(isSentinel ? 'Sentinel ID is' : 'Ready to accept connections')) resolve()
    })
  })

/**
 * Starts `redis-server` on a free port, in a temporary folder.
 * @param options.settings - More lines of its config file.
 */
export const startRedisProcess = async ({
  settings,
  isSentinel = false,
}: {
  settings: readonly string[]
  isSentinel?: boolean
}): Promise<RedisProcess> => {
  const program = getProgram('redis-server')
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-redis-'))
  const port = await getFreePort()
  const config = join(folder, 'redis.conf')
  const storage = isSentinel ? [] : ['save ""', 'appendonly no']
  // In a file, because other users can read the command line.
  writeFileSync(config, ['bind 127.0.0.1', `port ${port}`, `dir ${folder}`, ...storage, ...settings, ''].join('\n'), {
    mode: 0o600,
  })
  let server: ChildProcess | undefined
  const start = async (): Promise<void> => {
    const started = spawn(program, [config, ...(isSentinel ? ['--sentinel'] : [])], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    server = started
    running.add(started)
    started.once('exit', () => running.delete(started))
    await waitUntilStarted(started, isSentinel)
  }
  const kill = async (): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
  }
  await start()
  return {
    port,
    hang: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    kill,
    start,
    stop: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
