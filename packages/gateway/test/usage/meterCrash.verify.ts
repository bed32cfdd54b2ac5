import { kill } from 'node:process'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { createMeter } from '../../src/usage/metering/createMeter.ts'
import { createReadMetrics } from '../../src/usage/metering/createReadMetrics.ts'
import { minuteMs } from '../../src/lib/time.ts'
import { createPostgresFolder } from '../storage/startPostgres.ts'
import type { PostgresServer } from '../storage/startPostgres.ts'
import { startTcpProxy } from '../startTcpProxy.ts'

const noon = Date.UTC(2026, 10, 21, 12)

/** Stops the process that writes commits to the disk that nobody waits for. @returns Its process id. */
const stopWalWriter = async ({ db: { query } }: Storage): Promise<number> => {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where backend_type = 'walwriter'`.execute(query)
  const [{ pid } = { pid: 0 }] = rows
  expect(pid).toBeGreaterThan(0)
  kill(pid, 'SIGSTOP')
  return pid
}

describe('a crash of PostgreSQL', () => {
  test('loses counts that were not on its disk, and none that are made afterwards', async () => {
    const folder = await createPostgresFolder()
    onTestFinished(() => folder.remove())
    let server: PostgresServer = await folder.start()
    const proxy = await startTcpProxy(server.port)
    const url = new URL(server.url('postgres'))
    url.port = String(proxy.port)
    const storage = await openStorage({ databaseUrl: url.href })
    let now = noon
    const meter = createMeter({ storage, now: () => now, flushMs: 3_600_000, rollUpMs: 0 })
    onTestFinished(async () => {
      await meter.close()
      await storage.close()
      await proxy.close()
      await server.stop()
    })
    const call = async (): Promise<void> => {
      meter.count({ id: 'key_1', userId: 'usr_1' }, 'mainnet', 'eth_call', 'succeeded', 5)
      await meter.flush()
    }
    const read = createReadMetrics({ storage })
    const countCalls = async (): Promise<number> =>
      (await read({ subject: { userId: 'usr_1' }, from: noon, to: now + minuteMs, step: 'minute' })).total

    const walWriter = await stopWalWriter(storage)
    await call()
    now += minuteMs
    await call()
    expect(await countCalls()).toBe(2)

    await server.stop('SIGKILL')
    kill(walWriter, 'SIGKILL')
    server = await folder.start()
    proxy.switchTo(server.port)
    // The first write of a key waits for the disk, later ones do not.
    expect(await countCalls()).toBe(1)
    now += minuteMs
    await call()
    expect(await countCalls()).toBe(2)
  })
})
