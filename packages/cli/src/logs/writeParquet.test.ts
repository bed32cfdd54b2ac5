import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { encodeAbiParameters, encodeEventTopics, parseAbiItem, parseAbiParameters } from 'viem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { LogLine } from './parquetColumns.ts'
import { writeParquet } from './writeParquet.ts'

let folder = ''
let source = ''
let out = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  source = join(folder, 'logs.partial')
  out = join(folder, 'logs.parquet')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const { signal } = new AbortController()
const log: LogLine = {
  blockNumber: 21_000_000,
  blockHash: `0x${'b0'.repeat(32)}`,
  blockTimestamp: 1_700_000_000,
  transactionHash: `0x${'70'.repeat(32)}`,
  transactionIndex: 3,
  logIndex: 7,
  address: `0x${'c0'.repeat(20)}`,
  topics: [`0x${'01'.repeat(32)}`, `0x${'02'.repeat(32)}`],
  data: '0x',
}
const convert = (logs: readonly LogLine[], decode?: string): ReturnType<typeof writeParquet> => {
  writeFileSync(source, logs.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return writeParquet(source, out, { decode, signal })
}
const read = async (): Promise<Record<string, unknown>[]> =>
  parquetReadObjects({ file: await asyncBufferFromFile(out) })
const readGroups = async (): Promise<number[]> =>
  (await parquetMetadataAsync(await asyncBufferFromFile(out))).row_groups.map((group) => Number(group.num_rows))

const { blockNumber, transactionIndex, logIndex, blockHash, transactionHash, address } = log
const common = {
  blockNumber: BigInt(blockNumber),
  blockHash,
  blockTimestamp: new Date('2023-11-14T22:13:20Z'),
  transactionHash,
  transactionIndex: BigInt(transactionIndex),
  logIndex: BigInt(logIndex),
  address,
}

describe('writeParquet', () => {
  test('has a row for each log, and null for missing values', async () => {
    expect((await convert([log, { ...log, blockTimestamp: null, topics: [] }])).skipped).toBe(0)
    const missing = { topic2: null, topic3: null, data: '0x' }
    expect(await read()).toEqual([
      { ...common, topic0: log.topics[0], topic1: log.topics[1], ...missing },
      { ...common, blockTimestamp: null, topic0: null, topic1: null, ...missing },
    ])
  })

  test('has the parameters of the event instead of topics and data', async () => {
    const event =
      'Noted(string indexed tag, (uint8 n, uint256[] big)[] list, uint64 a, int40 b, uint72 c, bool d, bytes4 e, string f, uint8 blockHash, int)'
    const topics = encodeEventTopics({
      abi: [parseAbiItem(`event ${event}`)],
      args: { tag: 'a tag' },
    } as never) as unknown as string[]
    const data = encodeAbiParameters(
      parseAbiParameters('(uint8 n, uint256[] big)[], uint64, int40, uint72, bool, bytes4, string, uint8, int'),
      [[{ n: 1, big: [2n ** 200n, 0n] }], 2n ** 64n - 1n, -5, 2n ** 70n, true, '0x01020304', 'ä\n"', 9, -1n],
    )
    // The second log has the same hash, but no indexed parameter.
    const { skipped } = await convert(
      [
        { ...log, topics, data },
        { ...log, topics: topics.slice(0, 1), data },
      ],
      event,
    )
    expect(skipped).toBe(1)
    expect(await read()).toEqual([
      {
        ...common,
        tag: topics[1],
        list: [{ n: 1n, big: [String(2n ** 200n), '0'] }],
        a: 2n ** 64n - 1n,
        b: -5n,
        c: String(2n ** 70n),
        d: true,
        e: '0x01020304',
        f: 'ä\n"',
        arg_blockHash: 9n,
        arg9: '-1',
        undecodedData: null,
      },
    ])
  })

  test('has the data of logs of the event that cannot be decoded', async () => {
    const words = (...all: readonly number[]): string => all.map((one) => one.toString(16).padStart(64, '0')).join('')
    const [event, topics] = ['Named(string[] names, uint8 undecodedData)', log.topics.slice(0, 1)]
    const head = words(64, 7, 2, 64, 128, 1)
    // The bytes after the strings are not zeros, or missing.
    const unpadded = `0x${head}61${'ff'.repeat(31)}${words(1)}62`
    const notUtf8 = `0x${head}ff${'00'.repeat(31)}${words(1)}62`
    const [short, outOfRange] = ['0x12', `0x${words(64, 256, 0)}`]
    const result = await convert(
      [unpadded, notUtf8, short, outOfRange].map((data) => ({ ...log, topics, data })),
      event,
    )
    expect(result).toMatchObject({ skipped: 0, undecoded: 3 })
    expect(await read()).toEqual([
      { ...common, names: ['a', 'b'], arg_undecodedData: 7n, undecodedData: null },
      { ...common, names: [null, 'b'], arg_undecodedData: 7n, undecodedData: notUtf8 },
      // hyparquet reads a list that is null as undefined.
      { ...common, names: undefined, arg_undecodedData: null, undecodedData: short },
      { ...common, names: undefined, arg_undecodedData: null, undecodedData: outOfRange },
    ])
  })

  test('without logs has no rows', async () => {
    await convert([])
    expect(await read()).toEqual([])
  })

  test('holds 20,000 logs in memory at most', async () => {
    await convert(Array.from({ length: 20_001 }, (_, index) => ({ ...log, logIndex: index })))
    expect(await readGroups()).toEqual([20_000, 1])
  })

  test('leaves nothing if it is aborted', async () => {
    writeFileSync(source, `${JSON.stringify(log)}\n`)
    const reason = new Error('abort')
    const conversion = writeParquet(source, out, { decode: undefined, signal: AbortSignal.abort(reason) })
    await expect(conversion).rejects.toBe(reason)
    expect([out, `${out}.new`].filter((file) => existsSync(file))).toEqual([])
  })

  test('reports a file that cannot be written', async () => {
    out = join(folder, 'no', 'logs.parquet')
    await expect(convert([log])).rejects.toThrow(`cannot use ${out} (ENOENT)`)
  })
})
