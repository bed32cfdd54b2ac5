import { KeyrailError } from '@keyrail/core'
import type { CallOptions, Hex } from '@keyrail/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  call,
  createClient,
  estimateGas,
  getBalance,
  getBlock,
  getBlockNumber,
  getChainId,
  getCode,
  getFeeHistory,
  getGasPrice,
  getLogs,
  getStorageAt,
  getTransaction,
  getTransactionCount,
  getTransactionReceipt,
  isKeyrailError,
  iterateLogs,
  sendRawTransaction,
  waitForTransactionReceipt,
} from '../src/index.ts'
import type { Client } from '../src/index.ts'
import { startCountingServer } from './countingServer.ts'
import type { CountingServer } from './countingServer.ts'

const address = '0x00000000219ab540356cbb839cbe05303d7705fa'
const hash = `0x${'ab'.repeat(32)}` as const

type Read = (client: Client, options: CallOptions) => Promise<unknown>
const reads: readonly (readonly [name: string, read: Read])[] = [
  ['call', (client, options) => call(client, { to: address, ...options })],
  ['estimateGas', (client, options) => estimateGas(client, { to: address, ...options })],
  ['getBalance', (client, options) => getBalance(client, { address, ...options })],
  ['getBlock', (client, options) => getBlock(client, options)],
  ['getBlock by hash', (client, options) => getBlock(client, { block: hash, ...options })],
  ['getBlockNumber', (client, options) => getBlockNumber(client, options)],
  ['getChainId', (client, options) => getChainId(client, options)],
  ['getCode', (client, options) => getCode(client, { address, ...options })],
  ['getFeeHistory', (client, options) => getFeeHistory(client, { blockCount: 1, ...options })],
  ['getGasPrice', (client, options) => getGasPrice(client, options)],
  ['getLogs', (client, options) => getLogs(client, { address, ...options })],
  ['getLogs by block hash', (client, options) => getLogs(client, { blockHash: hash, ...options })],
  ['getStorageAt', (client, options) => getStorageAt(client, { address, slot: 0n, ...options })],
  ['getTransaction', (client, options) => getTransaction(client, { hash, ...options })],
  ['getTransactionCount', (client, options) => getTransactionCount(client, { address, ...options })],
  ['getTransactionReceipt', (client, options) => getTransactionReceipt(client, { hash, ...options })],
  ['sendRawTransaction', (client, options) => sendRawTransaction(client, { transaction: '0x02', ...options })],
]

/** Every function that takes call options: the reads, and the functions that make several calls. */
const functions: typeof reads = [
  ...reads,
  ['waitForTransactionReceipt', (client, options) => waitForTransactionReceipt(client, { hash, ...options })],
  ['iterateLogs', async (client, options) => iterateLogs(client, { fromBlock: 0, ...options }).next()],
]

let server: CountingServer
let client: Client

// Each test has its own server, because a request that the client aborted may still arrive after the test.
beforeEach(async () => {
  server = await startCountingServer()
  server.respond = () => undefined
  client = createClient({ url: server.url, retry: false })
})
afterEach(() => server.close())

/** A client without a node: it records the options of each call and rejects the call. */
function recordingClient(): { readonly recorder: Client; readonly seen: (CallOptions | undefined)[] } {
  const seen: (CallOptions | undefined)[] = []
  const rejected = new KeyrailError('rejected by the test', { kind: 'auth', source: 'node', retryable: false })
  const transport = {
    redactedUrl: 'recorded',
    request: (_: unknown, options?: CallOptions) => {
      seen.push(options)
      return Promise.reject(rejected)
    },
    close: () => {},
    [Symbol.asyncDispose]: async () => {},
  }
  return { recorder: createClient(transport), seen }
}

describe.each(reads)('%s', (_, read) => {
  test('passes its call options to the request, over the ones bound to the client', async () => {
    const { recorder, seen } = recordingClient()
    const options = {
      signal: new AbortController().signal,
      timeoutMs: 1_500,
      retries: 0,
      priority: 'poll',
      minBlock: 7n,
    } as const
    await expect(read(recorder.with({ timeoutMs: 9, retries: 9 }), options)).rejects.toThrow('rejected by the test')
    expect(seen).toEqual([options])
  })

  test('does not replace a bound option if an option is missing or undefined', async () => {
    const { recorder, seen } = recordingClient()
    const bound = recorder.with({ timeoutMs: 1_500, priority: 'poll' })
    await expect(read(bound, { timeoutMs: undefined, retries: 0, signal: undefined })).rejects.toThrow(
      'rejected by the test',
    )
    await expect(read(bound, {})).rejects.toThrow('rejected by the test')
    expect(seen).toEqual([
      { timeoutMs: 1_500, priority: 'poll', retries: 0 },
      { timeoutMs: 1_500, priority: 'poll' },
    ])
  })
})

describe.each(functions)('%s', (name, run) => {
  test('aborts its request with the reason of the signal', async () => {
    const controller = new AbortController()
    const pending = run(client, { signal: controller.signal })
    await expect.poll(() => server.received.length).toBe(1)
    const reason = new Error(`${name} is no longer needed`)
    controller.abort(reason)
    await expect(pending).rejects.toBe(reason)
    await expect.poll(() => server.closedEarly()).toBe(1)
    expect(server.received).toHaveLength(1)
  })

  test('sends nothing for a signal that is already aborted', async () => {
    await expect(run(client, { signal: AbortSignal.abort('too late') })).rejects.toBe('too late')
    expect(server.received).toEqual([])
  })

  test('fails with kind timeout after timeoutMs', async () => {
    await expect(run(client, { timeoutMs: 30 })).rejects.toMatchObject({ kind: 'timeout' })
  })

  test.each([
    ['timeout', 'timeoutMs'],
    ['timeoutMS', 'timeoutMs'],
    ['signals', 'signal'],
    ['retry', 'retries'],
    ['minblock', 'minBlock'],
    ['prio', 'priority'],
  ])('rejects the misspelt option %s and names %s', async (wrong, right) => {
    const failure: unknown = await (async () => run(client, { [wrong]: 1 }))().catch((error: unknown) => error)
    expect(isKeyrailError(failure, 'invalidRequest')).toBe(true)
    expect((failure as Error).message).toContain(`Unknown option "${wrong}". `)
    expect((failure as Error).message).toContain(right)
    expect(server.received).toEqual([])
  })

  test.each([
    { timeoutMs: 0 },
    { timeoutMs: -1 },
    { timeoutMs: Number.NaN },
    { timeoutMs: '5' },
    { signal: {} },
    { retries: -1 },
    { priority: 'high' },
    { minBlock: -1 },
    { minBlock: 'latest' },
  ])('rejects the value of %j', async (wrong) => {
    const [option = ''] = Object.keys(wrong)
    const failure: unknown = await (async () => run(client, wrong as CallOptions))().catch((error: unknown) => error)
    expect(isKeyrailError(failure, 'invalidRequest')).toBe(true)
    expect((failure as Error).message).toContain(option)
    expect(server.received).toEqual([])
  })
})

describe('a client without with()', () => {
  const bare = { eth_blockNumber: async (): Promise<Hex> => '0x10' }

  test('serves reads without call options', async () => {
    expect(await getBlockNumber(bare)).toBe(16n)
    expect(await getBlockNumber(bare, { timeoutMs: undefined })).toBe(16n)
  })

  test('rejects call options, which it cannot apply', async () => {
    await expect(getBlockNumber(bare, { timeoutMs: 5, retries: 0 })).rejects.toMatchObject({
      kind: 'invalidRequest',
      message:
        'getBlockNumber cannot apply timeoutMs and retries: this client has no with(). Use a client of createClient, or leave them out',
    })
  })
})

describe('functions that make several calls', () => {
  const options = { timeoutMs: 1_500, retries: 0, priority: 'poll', minBlock: 7n } as const

  test('iterateLogs applies the options to each call', async () => {
    const { recorder, seen } = recordingClient()
    await expect(iterateLogs(recorder, { fromBlock: 0, ...options }).next()).rejects.toThrow('rejected by the test')
    expect(seen).toEqual([{ ...options, signal: expect.any(AbortSignal) }])
  })

  test('waitForTransactionReceipt applies them, and its timeoutMs to the whole wait', async () => {
    const { recorder, seen } = recordingClient()
    const bound = recorder.with({ retries: 3 })
    await expect(waitForTransactionReceipt(bound, { hash, ...options })).rejects.toThrow('rejected by the test')
    expect(seen).toEqual([{ ...options, timeoutMs: expect.any(Number) }])
    expect(seen[0]?.timeoutMs).toBeLessThanOrEqual(1_500)
  })

  test('iterateLogs rejects a wrong value at once', () => {
    for (const wrong of [{ timeoutMs: 0 }, { retries: -1 }, { priority: 'high' }, { minBlock: 'latest' }])
      expect(() => iterateLogs(client, { fromBlock: 0, ...wrong } as never)).toThrow(Object.keys(wrong)[0])
  })
})
