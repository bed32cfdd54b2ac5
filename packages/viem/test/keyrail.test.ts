import { createTransport, isKeyrailError } from '@keyrail/core'
import type { TransportOptions } from '@keyrail/core'
import {
  leakableKey as key,
  dropTransactions,
  revertForms,
  rpcError,
  serviceErrors,
} from '@keyrail/core/test/adapterCases.ts'
import { raw, reply, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer } from '@keyrail/core/test/faultServer.ts'
import { reachableStrings } from '@keyrail/core/test/leakWalk.ts'
import {
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  encodeErrorResult,
  fallback,
  HttpRequestError,
  keccak256,
  parseAbi,
  TimeoutError,
} from 'viem'
import type { BaseError, PublicClient } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { mainnet } from 'viem/chains'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findFailure, keyrail } from '../src/index.ts'
import { getError } from '@keyrail/core/test/getFailure.ts'

const abi = parseAbi(['function owner() view returns (address)', 'error Unauthorized(address who)'])
const who = '0x00000000000000000000000000000000000000AA'
const address = '0x00000000000000000000000000000000000000bb'
const data = encodeErrorResult({ abi, errorName: 'Unauthorized', args: [who] })

let server: FaultServer
const open: { close: () => void }[] = []
beforeEach(async () => {
  server = await startFaultServer()
})
afterEach(async () => {
  for (const transport of open.splice(0)) transport.close()
  await server.close()
})

const make = (options: Partial<TransportOptions> = {}): PublicClient => {
  const transport = createTransport({ baseUrl: server.url, apiKey: key, retry: false, ...options } as TransportOptions)
  open.push(transport)
  return createPublicClient({ chain: mainnet, transport: keyrail(transport) }) as PublicClient
}
const readOwner = (client: PublicClient): Promise<unknown> =>
  getError(client.readContract({ abi, address, functionName: 'owner' }))

test.each([
  [-32_603, 'Internal error'],
  [-32_603, 'header not found'],
  [-32_603, 'odd'],
  [3, 'header not found'],
])(
  'an error with code %d that is no revert is not reported as one, but as an HttpRequestError',
  async (code, message) => {
    server.script = raw(200, `{"jsonrpc":"2.0","id":$ID,"error":${JSON.stringify({ code, message })}}`)
    const error = await readOwner(make())
    expect(findFailure(error)?.kind).not.toBe('revert')
    expect((error as BaseError).walk((one) => one instanceof ContractFunctionRevertedError)).toBeNull()
    expect((error as BaseError).walk((one) => one instanceof HttpRequestError)).not.toBeNull()
    expect(String(error)).toContain(message)
    expect(String(error)).not.toContain('reverted with')
  },
)

test.each([
  [-32_600, 'filter not found'],
  [-32_602, 'Invalid filter id'],
  [-32_603, 'Filter with id: 1 does not exist'],
  [-32_000, 'filter not found'],
  [-32_001, 'unknown filter'],
  [-32_000, 'eth_getFilterChanges: no such filter'],
])('watchEvent makes a new filter when a node forgets it with code %d, %s', async (code, message) => {
  const log = {
    address,
    topics: [],
    data: '0x',
    blockNumber: '0x1',
    blockHash: `0x${'11'.repeat(32)}`,
    transactionHash: `0x${'22'.repeat(32)}`,
    transactionIndex: '0x0',
    logIndex: '0x0',
    removed: false,
  }
  let filters = 0
  server.script = (seen, response, socket) => {
    const { method, params } = seen.json
    if (method === 'eth_newFilter') return reply(`0x${++filters}`)(seen, response, socket)
    if (method !== 'eth_getFilterChanges') return reply(true)(seen, response, socket)
    const forgotten = raw(200, `{"jsonrpc":"2.0","id":$ID,"error":${JSON.stringify({ code, message })}}`)
    return (params[0] === '0x1' ? forgotten : reply([log]))(seen, response, socket)
  }
  const logs = await new Promise((resolve) => {
    const stop = make().watchEvent({
      pollingInterval: 10,
      onLogs: (found) => {
        stop()
        resolve(found)
      },
    })
  })
  expect(logs).toMatchObject([{ transactionHash: log.transactionHash }])
  expect(filters).toBe(2)
})

test.each([
  [-32_005, 'rate limit exceeded for eth_getFilterChanges'],
  [-32_005, 'too many filter requests'],
  [-32_601, 'the method eth_getFilterChanges does not exist'],
  [-39_999, 'odd failure in eth_getFilterChanges'],
  [-32_603, 'internal error in eth_getFilterChanges'],
])('watchEvent keeps its filter when a node rejects a query of it with code %d, %s', async (code, message) => {
  let filters = 0
  let queries = 0
  server.script = (seen, response, socket) => {
    const { method } = seen.json
    if (method === 'eth_newFilter') return reply(`0x${++filters}`)(seen, response, socket)
    if (method !== 'eth_getFilterChanges') return reply(true)(seen, response, socket)
    queries++
    raw(200, `{"jsonrpc":"2.0","id":$ID,"error":${JSON.stringify({ code, message })}}`)(seen, response, socket)
  }
  const client = createPublicClient({ transport: keyrail({ url: server.url, retry: false }), pollingInterval: 10 })
  const stop = client.watchEvent({ onLogs: () => {}, onError: () => {} })
  await expect.poll(() => queries).toBeGreaterThan(2)
  stop()
  expect(filters).toBe(1)
})

test('a call sends exactly one request, and the client exposes only the redacted URL', async () => {
  const transport = keyrail({ baseUrl: server.url, apiKey: key, chainId: 1 })
  const client = createPublicClient({ chain: mainnet, transport })
  expect(await client.getBlockNumber()).toBe(1n)
  expect(server.seen.map(({ json }) => json.method)).toEqual(['eth_blockNumber'])
  expect(server.seen[0]?.path).toBe(`/v2/${key}`)
  expect(client.transport).toMatchObject({
    key: 'keyrail',
    type: 'keyrail',
    redactedUrl: `${server.url}/v2/…${key.slice(-4)}`,
  })
  expect(reachableStrings(client).filter((text) => text.includes(key))).toEqual([])
})

describe('a revert', () => {
  test.each(revertForms(data))('by %s is decoded', async (_, error) => {
    server.script = rpcError(error)
    const failure = await readOwner(make())
    const reverted = (failure as BaseError).walk((one) => one instanceof ContractFunctionRevertedError)
    expect((reverted as ContractFunctionRevertedError).data).toMatchObject({ errorName: 'Unauthorized', args: [who] })
    expect(server.seen).toHaveLength(1)
    expect(findFailure(failure)).toMatchObject({ kind: 'revert', rpcError: { code: error.code } })
  })
})

describe('a failure that is not a revert is not reported as one', () => {
  test.each([...serviceErrors] as const)('%s', async (_, kind, status, script) => {
    server.script = script
    const failure = await readOwner(make())
    expect((failure as BaseError).walk((one) => one instanceof ContractFunctionRevertedError)).toBeNull()
    expect((failure as BaseError).walk((one) => one instanceof HttpRequestError)).toMatchObject({
      // viem recognizes a rate limit by this status only.
      status: kind === 'throttled' ? 429 : status,
    })
    expect(findFailure(failure)).toMatchObject({ kind })
    expect(server.seen).toHaveLength(1)
    expect(reachableStrings(failure).filter((text) => text.includes(key))).toEqual([])
  })

  test('a response that takes too long', async () => {
    server.script = () => {}
    const failure = await getError(make({ timeoutMs: 60 }).getBlockNumber())
    expect((failure as BaseError).walk((one) => one instanceof TimeoutError)).not.toBeNull()
  })
})

test('an abort rejects with the reason of the caller', async () => {
  server.script = () => {}
  const controller = new AbortController()
  const reason = new Error('enough')
  const call = getError(make().request({ method: 'eth_blockNumber' }, { signal: controller.signal } as object))
  await expect.poll(() => server.seen.length).toBe(1)
  controller.abort(reason)
  expect(await call).toBe(reason)
})

describe('within fallback', () => {
  test('the next transport gets the call at once, and each transport is created once', async () => {
    const other = await startFaultServer(raw(503, 'down'))
    const transport = fallback([keyrail({ url: other.url, chainId: 1 }), keyrail({ url: server.url, chainId: 1 })])
    const client = createPublicClient({ chain: mainnet, transport })
    for (let i = 0; i < 3; i++) expect(await client.getChainId()).toBe(1)
    expect(other.seen).toHaveLength(3)
    expect(new Set(server.seen.map(({ connection }) => connection)).size).toBe(1)
    await other.close()
  })

  test('a revert does not fall back', async () => {
    server.script = rpcError({ code: 3, message: 'execution reverted', data })
    const other = await startFaultServer()
    const transport = fallback([keyrail({ url: server.url }), keyrail({ url: other.url })])
    const client = createPublicClient({ chain: mainnet, transport }) as PublicClient
    expect(await readOwner(client)).toMatchObject({ name: 'ContractFunctionExecutionError' })
    expect(other.seen).toEqual([])
    await other.close()
  })
})

describe('retries', () => {
  test('are those of the transport, and viem adds none', async () => {
    server.script = raw(503, 'down')
    await getError(make({ retry: { retries: 2, baseMs: 1 } }).getBlockNumber())
    expect(server.seen).toHaveLength(3)
  })

  test('are set by the config, even if the transport has others', async () => {
    server.script = raw(503, 'down')
    const transport = createTransport({ url: server.url })
    open.push(transport)
    const client = createPublicClient({ transport: keyrail(transport, { retryCount: 0 }) })
    await getError(client.getBlockNumber())
    expect(server.seen).toHaveLength(1)
  })
})

test('a transaction is sent once, and looked up if the response was lost', async () => {
  const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  const client = createWalletClient({ account, chain: mainnet, transport: keyrail({ url: server.url, chainId: 1 }) })
  server.script = dropTransactions
  const serializedTransaction = await account.signTransaction({
    chainId: 1,
    type: 'eip1559',
    to: address,
    gas: 21_000n,
    nonce: 0,
    maxFeePerGas: 1n,
  })
  expect(await client.sendRawTransaction({ serializedTransaction })).toBe(keccak256(serializedTransaction))
  expect(server.seen.map(({ json }) => json.method)).toEqual(['eth_sendRawTransaction', 'eth_getTransactionByHash'])
})

test('a wrong option is rejected at once, by an error without the key', () => {
  expect(() => keyrail({ url: `http://a.example/${key}`, timeout: 5 } as unknown as TransportOptions)).toThrow(
    'Unknown option "timeout". Did you mean "timeoutMs"?',
  )
  expect(() => keyrail(key as unknown as TransportOptions)).toThrow(expect.not.stringContaining(key) as never)
})

test('a transport that is passed in is used unchanged', async () => {
  const transport = createTransport({ url: server.url, retry: false })
  open.push(transport)
  const client = createPublicClient({ transport: keyrail(transport) })
  expect(await client.getBlockNumber()).toBe(1n)
  server.script = raw(503, 'down')
  const failure = await getError(client.getGasPrice())
  expect(isKeyrailError(findFailure(failure), 'unavailable')).toBe(true)
})

test('params by name reach the node', async () => {
  const params = { from: '0x1', limit: 5 }
  expect(await make().request({ method: 'my_search', params } as never)).toBe('0x1')
  expect(server.seen.map(({ json }) => json.params)).toEqual([params])
})

test.each<[options: unknown, config: unknown, message: string]>([
  ['https://node.example', undefined, 'keyrail takes an object of options or a transport, '],
  [{ url: 'http://127.0.0.1:1', timeout: 5 }, undefined, 'Unknown option "timeout". Did you mean "timeoutMs"?'],
  [{ url: 'http://127.0.0.1:1' }, { retryCounts: 5 }, 'Unknown option "retryCounts". Did you mean "retryCount"?'],
])('%j with %j is rejected', (options, config, message) => {
  expect(() => keyrail(options as never, config as never)).toThrow(message)
})
