import { createTransport, isKeyrailError } from '@keyrail/core'
import type { KeyrailError, TransportOptions } from '@keyrail/core'
import {
  leakableKey as key,
  dropTransactions,
  revertForms,
  rpcError,
  serviceErrors,
} from '@keyrail/core/test/adapterCases.ts'
import { raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { reachableStrings } from '@keyrail/core/test/leakWalk.ts'
import { useFakeClock } from '@keyrail/core/test/useFakeClock.ts'
import { Contract, Interface, isError, keccak256, Wallet } from 'ethers'
import type { ErrorCode, EthersError } from 'ethers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { KeyrailProvider } from '../src/index.ts'
import { getError } from '@keyrail/core/test/getFailure.ts'

const abi = new Interface(['function owner() view returns (address)', 'error Unauthorized(address who)'])
const who = '0x00000000000000000000000000000000000000AA'
const address = '0x00000000000000000000000000000000000000AB'
const data = abi.encodeErrorResult('Unauthorized', [who])

let server: FaultServer
const open: KeyrailProvider[] = []
beforeEach(async () => {
  server = await startFaultServer()
})
afterEach(async () => {
  for (const provider of open.splice(0)) provider.destroy()
  await server.close()
})

const make = (options: Partial<TransportOptions> = {}): KeyrailProvider => {
  const all = { baseUrl: server.url, apiKey: key, chainId: 1, retry: false, ...options } as TransportOptions
  const provider = new KeyrailProvider(all)
  open.push(provider)
  return provider
}
const getEthersError = getError<EthersError & { readonly failure?: KeyrailError }>
const readOwner = (provider: KeyrailProvider): ReturnType<typeof getEthersError> =>
  getEthersError((new Contract(address, abi, provider)['owner'] as unknown as () => Promise<unknown>)())
const methods = (): string[] => server.seen.map(({ json }) => json.method)

test('a call sends exactly one request, and the provider exposes only the redacted URL', async () => {
  const provider = make()
  expect(await provider.getBlockNumber()).toBe(1)
  expect(await provider.getBlockNumber()).toBe(1)
  expect(methods()).toEqual(['eth_blockNumber', 'eth_blockNumber'])
  expect(server.seen[0]?.path).toBe(`/v2/${key}`)
  expect(provider._getConnection().url).toBe(`${server.url}/v2/…${key.slice(-4)}`)
  expect(reachableStrings(provider).filter((text) => text.includes(key))).toEqual([])
})

test('the chain id is requested once if the options have none', async () => {
  const provider = make({ chainId: undefined } as Partial<TransportOptions>)
  for (let i = 0; i < 3; i++) await provider.getBlockNumber()
  expect((await provider.getNetwork()).chainId).toBe(1n)
  expect(methods().filter((method) => method === 'eth_chainId')).toHaveLength(1)
})

test('a wrong key fails the first call, and starts no loop', async () => {
  const log = vi.spyOn(console, 'log')
  server.script = raw(401, 'no such key')
  useFakeClock()
  const provider = make({ chainId: undefined } as Partial<TransportOptions>)
  const failure = await getEthersError(provider.getBlockNumber())
  expect(failure).toMatchObject({ code: 'SERVER_ERROR', failure: { kind: 'auth' } })
  await vi.advanceTimersByTimeAsync(600_000)
  vi.useRealTimers()
  // ethers would retry every second, which the server would see.
  expect(methods().length).toBeLessThanOrEqual(2)
  expect(log).not.toHaveBeenCalled()
  log.mockRestore()
})

describe('a revert', () => {
  test.each(revertForms(data))('by %s is decoded', async (_, error) => {
    server.script = rpcError(error)
    const failure = await readOwner(make())
    expect(isError(failure, 'CALL_EXCEPTION') && failure.revert).toMatchObject({ name: 'Unauthorized' })
    expect(isError(failure, 'CALL_EXCEPTION') && failure.revert?.args[0]).toBe(who)
    expect(methods()).toEqual(['eth_call'])
    // A call without a contract throws another error than a contract.
    const bare = await getEthersError(make().call({ to: address, data: '0x8da5cb5b' }))
    expect(bare).toMatchObject({
      code: 'CALL_EXCEPTION',
      data,
      failure: { kind: 'revert', rpcError: { code: error.code } },
    })
  })
})

describe('a failure that is not a revert is not reported as one', () => {
  test.each([
    ...serviceErrors.map(([name, kind, , script]) => [name, kind, 'SERVER_ERROR', script] as const),
    [
      'a connection that breaks',
      'network',
      'NETWORK_ERROR',
      (_: unknown, __: unknown, socket: { destroy: () => void }) => void socket.destroy(),
    ],
  ] as const)('%s', async (_, kind, code, script) => {
    server.script = script as Script
    const failure = await readOwner(make())
    expect(isError(failure, code as ErrorCode), `${failure}`).toBe(true)
    expect(isKeyrailError(failure.failure, kind)).toBe(true)
    expect(methods()).toEqual(['eth_call'])
    expect(reachableStrings(failure).filter((text) => text.includes(key))).toEqual([])
  })

  test('a response that takes too long', async () => {
    server.script = () => {}
    expect(await getEthersError(make({ timeoutMs: 60 }).getBlockNumber())).toMatchObject({ code: 'TIMEOUT' })
  })
})

describe('a transaction', () => {
  const signed = new Wallet(`0x${'11'.repeat(32)}`).signTransaction({
    chainId: 1,
    type: 2,
    to: address,
    gasLimit: 21_000,
    nonce: 0,
    maxFeePerGas: 1,
  })

  test.each([
    ['nonce too low', 'NONCE_EXPIRED'],
    ['insufficient funds for gas * price + value', 'INSUFFICIENT_FUNDS'],
    ['replacement transaction underpriced', 'REPLACEMENT_UNDERPRICED'],
  ])('that the node rejects (%s) fails with the code of ethers', async (message, code) => {
    server.script = (seen, response, socket) =>
      (seen.json.method === 'eth_sendRawTransaction'
        ? rpcError({ code: -32_000, message })
        : raw(200, `{"jsonrpc":"2.0","id":$ID,"result":null}`))(seen, response, socket)
    expect(await getEthersError(make().send('eth_sendRawTransaction', [await signed]))).toMatchObject({ code })
    expect(methods().filter((method) => method === 'eth_sendRawTransaction')).toHaveLength(1)
  })

  test('whose response is lost is sent once, and looked up', async () => {
    server.script = dropTransactions
    expect(await make().send('eth_sendRawTransaction', [await signed])).toBe(keccak256(await signed))
    expect(methods()).toEqual(['eth_sendRawTransaction', 'eth_getTransactionByHash'])
  })
})

describe('destroy', () => {
  test('cancels calls in flight and rejects new ones', async () => {
    server.script = () => {}
    const provider = make()
    const call = getEthersError(provider.getBlockNumber())
    await expect.poll(() => server.seen.length).toBe(1)
    provider.destroy()
    expect(await call).toMatchObject({ code: 'CANCELLED' })
    expect(await getEthersError(provider.send('eth_blockNumber', []))).toMatchObject({ code: 'UNSUPPORTED_OPERATION' })
  })

  test('leaves a transport open that was passed in', async () => {
    const transport = createTransport({ url: server.url, chainId: 1 })
    new KeyrailProvider(transport).destroy()
    expect(await transport.request({ method: 'eth_blockNumber' })).toBe('0x1')
    transport.close()
  })
})

test('events are polled until the provider is destroyed', async () => {
  let number = 0
  server.script = (seen, response, socket) =>
    raw(
      200,
      `{"jsonrpc":"2.0","id":$ID,"result":"0x${(seen.json.method === 'eth_chainId' ? 1 : ++number).toString(16)}"}`,
    )(seen, response, socket)
  const provider = new KeyrailProvider({ url: server.url, chainId: 1 }, { pollingInterval: 20 })
  const seen: number[] = []
  await provider.on('block', (block: number) => void seen.push(block))
  await expect.poll(() => seen.length).toBeGreaterThan(2)
  provider.destroy()
  expect(seen.slice(0, 3)).toEqual([seen[0]!, seen[0]! + 1, seen[0]! + 2])
})

test('debug events report requests and responses', async () => {
  const provider = make()
  const seen: string[] = []
  await provider.on('debug', ({ action }: { readonly action: string }) => void seen.push(action))
  await provider.send('eth_gasPrice', [])
  await expect.poll(() => seen).toEqual(['sendRpcPayload', 'receiveRpcResult'])
})

test('a wrong option is rejected at once, by an error without the key', () => {
  expect(
    () => new KeyrailProvider({ url: `http://a.example/${key}`, timeout: 5 } as unknown as TransportOptions),
  ).toThrow('Unknown option "timeout". Did you mean "timeoutMs"?')
  expect(() => new KeyrailProvider(key as unknown as TransportOptions)).toThrow(
    expect.not.stringContaining(key) as never,
  )
})

test('params by name reach the node', async () => {
  const params = { from: '0x1', limit: 5 }
  expect(await make().send('my_search', params)).toBe('0x1')
  expect(server.seen.map(({ json }) => json.params)).toEqual([params])
})

test.each<[options: unknown, config: unknown, message: string]>([
  ['https://node.example', undefined, 'KeyrailProvider takes an object of options or a transport, '],
  [{ url: 'http://127.0.0.1:1', timeout: 5 }, undefined, 'Unknown option "timeout". Did you mean "timeoutMs"?'],
  [
    { url: 'http://127.0.0.1:1' },
    { polingInterval: 5 },
    'Unknown option "polingInterval". Did you mean "pollingInterval"?',
  ],
])('%j with %j is rejected', (options, config, message) => {
  expect(() => new KeyrailProvider(options as never, config as never)).toThrow(message)
})
