import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getProgram } from '../../../../scripts/externalPrograms.ts'
import { getFreePort } from '../getFreePort.ts'
import { unprivileged } from './startPostgres.ts'

/** A PgBouncer in transaction mode. */
export interface PgBouncer {
  /** The URL of a database through it. */
  readonly url: string
  /** Ends it and all its connections, and starts it again. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts PgBouncer in front of a database.
 *
 * @param databaseUrl - The database, including the password.
 * @param serverConnections - How many connections to PostgreSQL it opens at most.
 */
export const startPgBouncer = async (databaseUrl: string, serverConnections: number): Promise<PgBouncer> => {
  const program = getProgram('pgbouncer')
  const target = new URL(databaseUrl)
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-pgbouncer-'))
  const port = await getFreePort()
  const userList = join(folder, 'users.txt')
  const config = join(folder, 'pgbouncer.ini')
  writeFileSync(userList, `"${target.username}" "${target.password}"\n`)
  writeFileSync(
    config,
    `[databases]
* = host=127.0.0.1 port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${userList}
pool_mode = transaction
default_pool_size = ${serverConnections}
max_client_conn = 200
`,
  )
  const user = await unprivileged()
  const { uid, gid } = user
  if (uid !== undefined && gid !== undefined) for (const path of [folder, userList, config]) chownSync(path, uid, gid)

  const start = async (): Promise<ChildProcess> => {
    const child = spawn(program, ['-q', config], { ...user, cwd: folder, stdio: 'ignore' })
    for (;;) {
      const socket = connect(port, '127.0.0.1')
      const [isOpen] = await Promise.race([
        once(socket, 'connect').then(() => [true]),
        once(socket, 'error').then(() => [false]),
      ]).catch(() => [false])
      socket.destroy()
      if (isOpen) return child
      if (child.exitCode !== null) throw new Error(`pgbouncer ended with code ${child.exitCode}`)
      await sleep(50)
    }
  }
  let child = await start()
  const end = async (): Promise<void> => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  const url = new URL(databaseUrl)
  url.port = String(port)
  return {
    url: url.href,
    restart: async () => {
      await end()
      child = await start()
    },
    stop: async () => {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
