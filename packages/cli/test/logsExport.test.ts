import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { respondWith } from '@keyrail/core/test/faults/respondWith.ts'
import { raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { createClient } from '@keyrail/fetch'
import type { Client } from '@keyrail/fetch'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openDestination } from '../src/logs/destination.ts'
import type { Destination } from '../src/logs/destination.ts'
import { exportLogs } from '../src/logs/exportLogs.ts'
import type { ExportWatch } from '../src/logs/exportLogs.ts'
import { logFormats } from '../src/logs/logFormat.ts'
import type { LogsRequest } from '../src/logs/logsRequest.ts'
import type { LogSink } from '../src/logs/logSink.ts'
import { openLogStream } from '../src/logs/logStream.ts'
import { createLogsChain } from './logsChain.ts'
import type { LogsChain } from './logsChain.ts'
import { checkLogs } from './logsCheck.ts'

vi.setConfig({ testTimeout: 60_000 })

let server: FaultServer
let client: Client
let chain: LogsChain
let folder = ''
let out = ''

beforeAll(async () => {
  server = await startFaultServer()
})
afterAll(() => server.close())
beforeEach(() => {
  chain = createLogsChain(100)
  server.script = respondWith(chain.itemOf)
  client = createClient({ url: server.url })
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  out = join(folder, 'logs.ndjson')
})
afterEach(() => {
  client.close()
  rmSync(folder, { recursive: true, force: true })
})

const requestOf = (change: Partial<LogsRequest> = {}): LogsRequest => ({
  from: 0,
  to: 100,
  address: [],
  topics: [],
  format: 'ndjson',
  out,
  overwrite: false,
  concurrency: undefined,
  maxBlocks: undefined,
  ...change,
})

interface Told {
  readonly reorgs: [bigint, number][]
  readonly waits: string[]
}

/** Exports blocks 0 to 100, in windows of 16 blocks: near the head these are read one after the other. */
async function exportAll(
  sink: LogSink,
  { signal = new AbortController().signal, onWait = () => {} }: Partial<Pick<ExportWatch, 'signal' | 'onWait'>> = {},
): Promise<Told> {
  const reorgs: [bigint, number][] = []
  const waits: string[] = []
  await exportLogs(
    client,
    { ...requestOf(), fromBlock: 0, toBlock: 100, concurrency: undefined, maxBlocks: 16 },
    sink,
    {
      signal,
      onProgress: () => {},
      onWait: (error, waitMs) => {
        waits.push(error.kind)
        onWait(error, waitMs)
      },
      onReorg: (block, logs) => reorgs.push([block, logs]),
    },
  )
  return { reorgs, waits }
}

/** Does something just before the logs from a block on are answered, once. */
const before = (block: number, act: () => void): Script => {
  const good = respondWith(chain.itemOf)
  let done = false
  return (seen, ...rest) => {
    const { method, params } = seen.json
    if (!done && method === 'eth_getLogs' && Number((params[0] as { fromBlock: string }).fromBlock) >= block) {
      done = true
      act()
    }
    good(seen, ...rest)
  }
}

const expectWhole = async (): Promise<void> => {
  expect(await checkLogs(out, chain.places(0, 100))).toEqual({ lines: chain.countOf(0, 100), wrong: [] })
}

describe('an export over which the chain is reorganized', () => {
  test('takes back what it wrote of the blocks that were replaced, and reads them again', async () => {
    const { sink, finish, release } = await openDestination(client, requestOf())
    server.script = before(69, () => chain.fork(60))
    const { reorgs, waits } = await exportAll(sink)
    await finish()
    release()
    // Blocks 37 to 52 end below the fork: their edge stands, and what was written above it goes.
    expect(reorgs).toEqual([[53n, chain.countOf(53, 68)]])
    expect(waits).toEqual([])
    await expectWhole()
  })

  test('finds out between two runs, too', async () => {
    const interrupt = new AbortController()
    const first = await openDestination(client, requestOf())
    server.script = before(69, () => interrupt.abort(new Error('enough')))
    await expect(exportAll(first.sink, { signal: interrupt.signal })).rejects.toThrow('enough')
    await first.leave()
    first.release()
    expect(first.sink.cursor().nextBlock).toBe(69)

    chain.fork(60)
    const second = await openDestination(client, requestOf())
    const { reorgs } = await exportAll(second.sink)
    await second.finish()
    second.release()
    expect(reorgs).toEqual([[53n, chain.countOf(53, 68)]])
    await expectWhole()
  })

  test('names it where the logs are out of reach', async () => {
    server.script = before(69, () => chain.fork(60))
    const stream = openLogStream(new PassThrough().resume(), logFormats.ndjson, 0)
    await expect(exportAll(stream)).rejects.toMatchObject({
      message: 'the chain was reorganized at or above block 53',
      hint: expect.stringContaining('--from 53'),
    })
  })
})

describe('an export from a node in trouble', () => {
  test('goes on by itself when a node that was behind has caught up', async () => {
    const { sink, finish, release } = await openDestination(client, requestOf())
    chain.head = 90
    const { waits } = await exportAll(sink, { onWait: () => (chain.head = 100) })
    await finish()
    release()
    expect(waits).toEqual(['lagging'])
    await expectWhole()
  })

  test('ends where waiting is of no use, and the next run goes on', async () => {
    const first = await openDestination(client, requestOf())
    server.script = before(40, () => (server.script = raw(401, 'who are you?')))
    await expect(exportAll(first.sink)).rejects.toMatchObject({ kind: 'auth' })
    const { told, hint } = await first.leave()
    first.release()
    expect(told).toContain(`are in ${out}; block ${first.sink.cursor().nextBlock} is next`)
    expect(hint).toBe('the same command goes on from there')

    server.script = respondWith(chain.itemOf)
    const second = await openDestination(client, requestOf())
    expect(second.before).toBe(first.sink.logs())
    await exportAll(second.sink)
    await second.finish()
    second.release()
    await expectWhole()
  })
})

describe('a file that is there already', () => {
  /** An export that was left at once. */
  const leave = async (change: Partial<LogsRequest> = {}): Promise<void> => {
    const destination = await openDestination(client, requestOf(change))
    await destination.leave()
    destination.release()
  }
  const rejection = async (
    change: Partial<LogsRequest>,
  ): Promise<{ message: string; hint: string; exitCode: number }> => {
    let opened: Destination
    try {
      opened = await openDestination(client, requestOf(change))
    } catch (error) {
      expect(existsSync(`${out}.lock`)).toBe(false)
      return error as { message: string; hint: string; exitCode: number }
    }
    opened.release()
    throw new Error('it was not rejected')
  }

  test('is not touched', async () => {
    writeFileSync(out, 'precious\n')
    expect(await rejection({})).toMatchObject({ exitCode: 2, hint: expect.stringContaining('--overwrite') })
    expect(readFileSync(out, 'utf8')).toBe('precious\n')
  })

  test('is replaced with --overwrite, but not before the range is known', async () => {
    writeFileSync(out, 'precious\n')
    server.script = raw(401, 'who are you?')
    expect(await rejection({ overwrite: true })).toMatchObject({ kind: 'auth' })
    expect(readFileSync(out, 'utf8')).toBe('precious\n')
    server.script = respondWith(chain.itemOf)
    const { sink, finish, release } = await openDestination(client, requestOf({ overwrite: true }))
    await exportAll(sink)
    await finish()
    release()
    await expectWhole()
  })

  test('is gone on with without --overwrite, which would begin anew', async () => {
    const begun = await openDestination(client, requestOf({ overwrite: true }))
    expect((await begun.leave()).hint).toBe('the same command without --overwrite goes on from there')
    begun.release()
    const { before, release } = await openDestination(client, requestOf())
    release()
    expect(before).toBe(0)
  })

  test.each<[string, Partial<LogsRequest>]>([
    ['--from', { from: 1 }],
    ['--to', { to: 'latest' }],
    ['--address', { address: [`0x${'c0'.repeat(20)}`] }],
    ['--event or a --topic', { topics: [null, [`0x${'00'.repeat(32)}`]] }],
    ['--format', { format: 'csv' }],
  ])('is not gone on with by another %s', async (option, change) => {
    await leave()
    const rejected = await rejection(change)
    expect(rejected.message).toBe(`${out} is an export that is not finished, and it was begun with another ${option}`)
    expect(rejected).toMatchObject({ exitCode: 2, hint: expect.stringMatching(/begun with.*--overwrite.*--out/) })
  })

  test('names what it was begun with', async () => {
    await leave({ from: 3, to: 'latest' })
    expect((await rejection({})).hint).toContain('(--from 3 --to latest)')
  })

  test('is not gone on with from another chain', async () => {
    await leave()
    server.script = respondWith(createLogsChain(100, 1).itemOf)
    expect(await rejection({})).toMatchObject({
      exitCode: 2,
      message: `${out} is an export of chain 1952805748, and this address is of chain 1`,
    })
  })

  test('keeps its ends, though the chain has grown', async () => {
    await leave({ from: 'earliest', to: 'latest' })
    chain.head = 200
    const { fromBlock, toBlock, release } = await openDestination(client, requestOf({ from: 'earliest', to: 'latest' }))
    release()
    expect([fromBlock, toBlock]).toEqual([0, 100])
  })
})

describe('the ends of a range', () => {
  test.each<[string, Partial<LogsRequest>, number, number]>([
    ['tags', { from: 'earliest', to: 'finalized' }, 0, 36],
    ['numbers', { from: 5, to: 9 }, 5, 9],
    ['the head', { from: 'latest', to: 'latest' }, 100, 100],
  ])('are found: %s', async (_what, change, first, last) => {
    const { fromBlock, toBlock, release } = await openDestination(client, requestOf(change))
    release()
    expect([fromBlock, toBlock]).toEqual([first, last])
  })

  test.each<[string, Partial<LogsRequest>, RegExp]>([
    ['a block that is not there yet', { to: 101 }, /block 101 is not there yet: the newest is 100/],
    ['a first block above the last', { from: 90, to: 'finalized' }, /the first block, 90, lies above the last, 36/],
  ])('are rejected before anything is written: %s', async (_what, change, message) => {
    await expect(openDestination(client, requestOf(change))).rejects.toThrow(message)
    expect(existsSync(out) || existsSync(`${out}.cursor`)).toBe(false)
  })
})
