import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { respondWith } from '@keyrail/core/test/faults/respondWith.ts'
import { raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { createClient } from '@keyrail/fetch'
import type { Client } from '@keyrail/fetch'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openDestination } from '../src/logs/destination.ts'
import type { Destination } from '../src/logs/destination.ts'
import { exportLogs } from '../src/logs/exportLogs.ts'
import type { ExportHooks } from '../src/logs/exportLogs.ts'
import { logFormats } from '../src/logs/logFormat.ts'
import type { LogsRequest } from '../src/logs/logsRequest.ts'
import type { LogSink } from '../src/logs/logSink.ts'
import { openLogStream } from '../src/logs/logStream.ts'
import { createLogsChain } from './logsChain.ts'
import type { LogsChain } from './logsChain.ts'
import { checkLogs } from './logsCheck.ts'

vi.setConfig({ testTimeout: 60_000 })

/** The signal of an export that is not interrupted. */
const { signal } = new AbortController()

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
  server.script = respondWith(chain.getItem)
  client = createClient({ url: server.url })
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  out = join(folder, 'logs.ndjson')
})
afterEach(() => {
  client.close()
  rmSync(folder, { recursive: true, force: true })
})

const createRequest = (change: Partial<LogsRequest> = {}): LogsRequest => ({
  from: 0,
  to: 100,
  address: [],
  topics: [],
  format: 'ndjson',
  decode: undefined,
  out,
  overwrite: false,
  concurrency: undefined,
  maxBlocks: undefined,
  ...change,
})

interface Events {
  readonly reorgs: [bigint, number][]
  readonly retries: string[]
}

/** Exports blocks 0 to 100, in windows of 16 blocks, which are read sequentially near the head. */
async function exportAll(
  sink: LogSink,
  { signal: interrupt = signal, onRetry = () => {} }: Partial<Pick<ExportHooks, 'signal' | 'onRetry'>> = {},
): Promise<Events> {
  const reorgs: [bigint, number][] = []
  const retries: string[] = []
  await exportLogs(
    client,
    { ...createRequest(), fromBlock: 0, toBlock: 100, concurrency: undefined, maxBlocks: 16 },
    sink,
    {
      signal: interrupt,
      onProgress: () => {},
      onRetry: (error, delayMs) => {
        retries.push(error.kind)
        onRetry(error, delayMs)
      },
      onReorg: (block, logs) => reorgs.push([block, logs]),
    },
  )
  return { reorgs, retries }
}

/** Acts once, just before the response to a request for logs from a block on. */
const actBefore = (block: number, act: () => void): Script => {
  const normal = respondWith(chain.getItem)
  let done = false
  return (seen, ...rest) => {
    const { method, params } = seen.json
    if (!done && method === 'eth_getLogs' && Number((params[0] as { fromBlock: string }).fromBlock) >= block) {
      done = true
      act()
    }
    normal(seen, ...rest)
  }
}

const expectComplete = async (): Promise<void> => {
  expect(await checkLogs(out, chain.places(0, 100))).toEqual({ lines: chain.countLogs(0, 100), wrong: [] })
}

describe('an export during a reorg', () => {
  test('rolls back the logs of replaced blocks, and reads them again', async () => {
    const { sink, finish, release } = await openDestination(client, createRequest())
    server.script = actBefore(69, () => chain.fork(60))
    const { reorgs, retries } = await exportAll(sink)
    await finish(signal)
    release()
    // Blocks 37 to 52 are below the fork and remain. Logs above them are removed.
    expect(reorgs).toEqual([[53n, chain.countLogs(53, 68)]])
    expect(retries).toEqual([])
    await expectComplete()
  })

  test('detects a reorg between two runs', async () => {
    const interrupt = new AbortController()
    const first = await openDestination(client, createRequest())
    server.script = actBefore(69, () => interrupt.abort(new Error('abort')))
    await expect(exportAll(first.sink, { signal: interrupt.signal })).rejects.toThrow('abort')
    await first.stop()
    first.release()
    expect(first.sink.cursor().nextBlock).toBe(69)

    chain.fork(60)
    const second = await openDestination(client, createRequest())
    const { reorgs } = await exportAll(second.sink)
    await second.finish(signal)
    second.release()
    expect(reorgs).toEqual([[53n, chain.countLogs(53, 68)]])
    await expectComplete()
  })

  test('fails if the logs cannot be rolled back', async () => {
    server.script = actBefore(69, () => chain.fork(60))
    const stream = openLogStream(new PassThrough().resume(), logFormats.ndjson, 0)
    await expect(exportAll(stream)).rejects.toMatchObject({
      message: 'a reorg replaced logs at or above block 53, which are already written',
      hint: expect.stringContaining('--from 53'),
    })
  })
})

describe('an export from a failing node', () => {
  test('continues when a lagging node has caught up', async () => {
    const { sink, finish, release } = await openDestination(client, createRequest())
    chain.head = 90
    const { retries } = await exportAll(sink, { onRetry: () => (chain.head = 100) })
    await finish(signal)
    release()
    expect(retries).toEqual(['lagging'])
    await expectComplete()
  })

  test('fails for errors that are not retryable, and the next run resumes', async () => {
    const first = await openDestination(client, createRequest())
    server.script = actBefore(40, () => (server.script = raw(401, 'who are you?')))
    await expect(exportAll(first.sink)).rejects.toMatchObject({ kind: 'auth' })
    const { status, hint } = await first.stop()
    first.release()
    expect(status).toContain(`to ${out}, next block ${first.sink.cursor().nextBlock}`)
    expect(hint).toBe('run the same command again to resume')

    server.script = respondWith(chain.getItem)
    const second = await openDestination(client, createRequest())
    expect(second.resumedLogs).toBe(first.sink.logs())
    await exportAll(second.sink)
    await second.finish(signal)
    second.release()
    await expectComplete()
  })
})

describe('an existing file', () => {
  /** Starts an export and stops it at once. */
  const interrupt = async (change: Partial<LogsRequest> = {}): Promise<void> => {
    const destination = await openDestination(client, createRequest(change))
    await destination.stop()
    destination.release()
  }
  const getError = async (
    change: Partial<LogsRequest>,
  ): Promise<{ message: string; hint: string; exitCode: number }> => {
    let opened: Destination
    try {
      opened = await openDestination(client, createRequest(change))
    } catch (error) {
      expect(existsSync(`${out}.lock`)).toBe(false)
      return error as { message: string; hint: string; exitCode: number }
    }
    opened.release()
    throw new Error('expected an error')
  }

  test('is not changed', async () => {
    writeFileSync(out, 'precious\n')
    expect(await getError({})).toMatchObject({ exitCode: 2, hint: expect.stringContaining('--overwrite') })
    expect(readFileSync(out, 'utf8')).toBe('precious\n')
  })

  test('is replaced with --overwrite, but not before the range is resolved', async () => {
    writeFileSync(out, 'precious\n')
    server.script = raw(401, 'who are you?')
    expect(await getError({ overwrite: true })).toMatchObject({ kind: 'auth' })
    expect(readFileSync(out, 'utf8')).toBe('precious\n')
    server.script = respondWith(chain.getItem)
    const { sink, finish, release } = await openDestination(client, createRequest({ overwrite: true }))
    await exportAll(sink)
    await finish(signal)
    release()
    await expectComplete()
  })

  test('is resumed without --overwrite, which would start over', async () => {
    const first = await openDestination(client, createRequest({ overwrite: true }))
    expect((await first.stop()).hint).toBe('run the same command again without --overwrite to resume')
    first.release()
    const { resumedLogs, release } = await openDestination(client, createRequest())
    release()
    expect(resumedLogs).toBe(0)
  })

  test.each<[string, Partial<LogsRequest>]>([
    ['--from', { from: 1 }],
    ['--to', { to: 'latest' }],
    ['--address', { address: [`0x${'c0'.repeat(20)}`] }],
    ['--event or --topic', { topics: [null, [`0x${'00'.repeat(32)}`]] }],
    ['--format', { format: 'csv' }],
    ['--decode', { decode: 'Paused()' }],
  ])('is not resumed with a different %s', async (option, change) => {
    await interrupt()
    const error = await getError(change)
    expect(error.message).toBe(`${out} is an unfinished export with a different ${option}`)
    expect(error).toMatchObject({ exitCode: 2, hint: expect.stringMatching(/original options.*--overwrite.*--out/) })
  })

  test('error names the original options', async () => {
    await interrupt({ from: 3, to: 'latest' })
    expect((await getError({})).hint).toContain('(--from 3 --to latest)')
  })

  test('is not resumed on another chain', async () => {
    await interrupt()
    server.script = respondWith(createLogsChain(100, 1).getItem)
    expect(await getError({})).toMatchObject({
      exitCode: 2,
      message: `${out} is an export of chain 1952805748, but this endpoint serves chain 1`,
    })
  })

  test('keeps its range when the chain has grown', async () => {
    await interrupt({ from: 'earliest', to: 'latest' })
    chain.head = 200
    const { fromBlock, toBlock, release } = await openDestination(
      client,
      createRequest({ from: 'earliest', to: 'latest' }),
    )
    release()
    expect([fromBlock, toBlock]).toEqual([0, 100])
  })
})

describe('an export to Parquet', () => {
  const parquet: Partial<LogsRequest> = { format: 'parquet' }
  const readPlaces = async (): Promise<Record<string, unknown>[]> =>
    parquetReadObjects({
      file: await asyncBufferFromFile(out),
      columns: ['blockNumber', 'logIndex', 'blockHash', 'transactionHash'],
    })
  const listPlaces = (): Record<string, unknown>[] =>
    [...chain.places(0, 100)].map(({ block, index, blockHash, transactionHash }) => ({
      blockNumber: BigInt(block),
      logIndex: BigInt(index),
      blockHash,
      transactionHash,
    }))
  beforeEach(() => {
    out = join(folder, 'logs.parquet')
  })

  test('resumes after an interruption of the reading and one of the conversion, and rolls back a reorg', async () => {
    const interrupt = new AbortController()
    const first = await openDestination(client, createRequest(parquet))
    server.script = actBefore(69, () => interrupt.abort(new Error('abort')))
    await expect(exportAll(first.sink, { signal: interrupt.signal })).rejects.toThrow('abort')
    expect((await first.stop()).status).toContain(`to ${out}.partial, next block 69`)
    first.release()

    chain.fork(60)
    const second = await openDestination(client, createRequest(parquet))
    const { reorgs } = await exportAll(second.sink)
    expect(reorgs).toEqual([[53n, chain.countLogs(53, 68)]])
    await expect(second.finish(interrupt.signal)).rejects.toThrow('abort')
    expect((await second.stop()).hint).toBe('run the same command again to resume')
    second.release()
    expect(readdirSync(folder)).toEqual(['logs.parquet.cursor', 'logs.parquet.partial'])

    const third = await openDestination(client, createRequest(parquet))
    expect(third.resumedLogs).toBe(chain.countLogs(0, 100))
    await exportAll(third.sink)
    await third.finish(signal)
    third.release()
    expect(await readPlaces()).toEqual(listPlaces())
    expect(third.bytes()).toBe(readFileSync(out).length)
    expect(readdirSync(folder)).toEqual(['logs.parquet'])
  })

  test('replaces a file with --overwrite only when it is complete', async () => {
    writeFileSync(out, 'precious\n')
    const { sink, finish, release } = await openDestination(client, createRequest({ ...parquet, overwrite: true }))
    await exportAll(sink)
    expect(readFileSync(out, 'utf8')).toBe('precious\n')
    await finish(signal)
    release()
    expect(await readPlaces()).toEqual(listPlaces())
  })

  test('rejects a folder before it reads logs', async () => {
    const request = createRequest({ ...parquet, out: folder, overwrite: true })
    await expect(openDestination(client, request)).rejects.toThrow(`${folder} is not a file`)
  })
})

describe('the range', () => {
  test.each<[string, Partial<LogsRequest>, number, number]>([
    ['tags', { from: 'earliest', to: 'finalized' }, 0, 36],
    ['numbers', { from: 5, to: 9 }, 5, 9],
    ['the head', { from: 'latest', to: 'latest' }, 100, 100],
  ])('is resolved from %s', async (_what, change, first, last) => {
    const { fromBlock, toBlock, release } = await openDestination(client, createRequest(change))
    release()
    expect([fromBlock, toBlock]).toEqual([first, last])
  })

  test.each<[string, Partial<LogsRequest>, RegExp]>([
    ['a block that does not exist yet', { to: 101 }, /block 101 does not exist yet: the latest is 100/],
    ['a first block above the last', { from: 90, to: 'finalized' }, /the first block \(90\) is above the last \(36\)/],
  ])('is rejected before anything is written: %s', async (_what, change, message) => {
    await expect(openDestination(client, createRequest(change))).rejects.toThrow(message)
    expect(existsSync(out) || existsSync(`${out}.cursor`)).toBe(false)
  })
})
