import { createTransport, isKeyrailError } from '@keyrail/core'
import type { TransportOptions } from '@keyrail/core'
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
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { sha3Raw } from 'web3-utils'
import { batch, KeyrailProvider } from '../src/index.ts'

const who = '0x00000000000000000000000000000000000000AA'
const address = '0x00000000000000000000000000000000000000AB'
const abi = [
  { type: 'function', name: 'owner', stateMutability: 'view', inputs: [], outputs: [{ type: 'address', name: '' }] },
  { type: 'error', name: 'Unauthorized', inputs: [{ type: 'address', name: 'who' }] },
] as const
/** An `Unauthorized(address)` error. */
const data = `0x8e4a23d6${'0'.repeat(62)}aa`

let server: FaultServer
const open: KeyrailProvider[] = []
beforeEach(async () => {
  server = await startFaultServer()
})
afterEach(async () => {
  for (const provider of open.splice(0)) provider.disconnect()
  await server.close()
})

const make = (options: Partial<TransportOptions> = {}): KeyrailProvider => {
  const provider = new KeyrailProvider({
    baseUrl: server.url,
    apiKey: key,
    chainId: 1,
    retry: false,
    ...options,
  } as TransportOptions)
  open.push(provider)
  return provider
}
const getOutcome = (call: Promise<unknown>): Promise<Record<string, unknown>> =>
  call.then(
    (value) => ({ value }),
    (error: unknown) => error as Record<string, unknown>,
  )
const readOwner = (provider: KeyrailProvider): ReturnType<typeof getOutcome> =>
  getOutcome(new new Web3(provider).eth.Contract(abi, address).methods.owner().call())
const methods = (): string[] => server.seen.map(({ json }) => json.method)

test('a call sends exactly one request, and the provider exposes only the redacted URL', async () => {
  const provider = make()
  expect(await new Web3(provider).eth.getBlockNumber()).toBe(1n)
  expect(methods()).toEqual(['eth_blockNumber'])
  expect(server.seen[0]?.path).toBe(`/v2/${key}`)
  expect(provider.redactedUrl).toBe(`${server.url}/v2/…${key.slice(-4)}`)
  expect(reachableStrings(provider).filter((text) => text.includes(key))).toEqual([])
})

describe('a revert', () => {
  test.each(revertForms(data))('by %s is decoded', async (_, error) => {
    server.script = rpcError(error)
    const failure = await readOwner(make())
    expect(failure).toMatchObject({
      name: 'ContractExecutionError',
      cause: { errorName: 'Unauthorized', errorArgs: { who } },
    })
    expect(methods()).toEqual(['eth_call'])
  })

  test('without data is not decoded as the first error of the ABI', async () => {
    server.script = rpcError({ code: 3, message: 'execution reverted', data: '0x' })
    const failure = await readOwner(make())
    expect(failure).toMatchObject({ name: 'ContractExecutionError', cause: { message: 'execution reverted' } })
    expect((failure['cause'] as { errorName?: string }).errorName).toBeUndefined()
  })
})

describe('a failure that is not a revert is not reported as one, and has its HTTP status', () => {
  test.each([
    ...serviceErrors,
    ['a page that contains "revert"', 'badResponse', 200, raw(200, '<html>we had to revert</html>')],
  ] as const)('%s', async (_, kind, status, script) => {
    server.script = script
    const failure = await getOutcome(new Web3(make()).eth.call({ to: address }))
    expect(isKeyrailError(failure, kind)).toBe(true)
    expect(failure).toMatchObject({ status })
    expect(methods()).toEqual(['eth_call'])
    expect(reachableStrings(failure).filter((text) => text.includes(key))).toEqual([])
  })

  test('an error of the node keeps its code', async () => {
    server.script = rpcError({ code: -32_000, message: 'nonce too low' })
    const failure = await getOutcome(new Web3(make()).eth.getBlockNumber())
    expect(failure).toMatchObject({ name: 'InvalidResponseError', cause: { code: -32_000, message: 'nonce too low' } })
  })

  test('a failed execution that is not a revert keeps the message of the node', async () => {
    server.script = rpcError({ code: -32_000, message: 'out of gas' })
    expect(await getOutcome(new Web3(make()).eth.call({ to: address }))).toMatchObject({
      cause: { message: 'out of gas' },
    })
  })
})

describe('a batch', () => {
  const respond: Script = (seen, response, socket) =>
    (seen.json.method === 'eth_gasPrice'
      ? rpcError({ code: -32_000, message: 'no gas' })
      : seen.json.method === 'eth_chainId'
        ? raw(503, 'down')
        : raw(200, '{"jsonrpc":"2.0","id":$ID,"result":"0x7"}'))(seen, response, socket)

  test('resolves or rejects each of its calls', async () => {
    server.script = respond
    const web3 = new Web3(make())
    const batch = new web3.BatchRequest()
    const calls = ['eth_blockNumber', 'eth_gasPrice', 'eth_chainId', 'net_version'].map((method, at) =>
      getOutcome(batch.add({ jsonrpc: '2.0', id: at + 1, method, params: [] } as never)),
    )
    await batch.execute({ timeout: 5_000 })
    const [block, gas, chain, version] = await Promise.all(calls)
    expect([block, version]).toEqual([{ value: '0x7' }, { value: '0x7' }])
    expect(gas).toMatchObject({ code: -32_000, message: 'no gas' })
    expect(JSON.stringify(chain)).toContain('-32603')
  })

  test('keeps the ids of web3', async () => {
    const payload = ['one', 'two'].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_blockNumber', params: [] }))
    expect(await make().request(payload as never)).toEqual([
      { jsonrpc: '2.0', id: 'one', result: '0x1' },
      { jsonrpc: '2.0', id: 'two', result: '0x1' },
    ])
  })

  test('is one request if the transport batches', async () => {
    server.script = ({ json }, response) =>
      response.end(
        JSON.stringify((json as unknown as { id: number }[]).map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x1' }))),
      )
    const payload = [1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_getCode', params: [`0x${id}`] }))
    expect(await make({ batch: batch() }).request(payload as never)).toHaveLength(3)
    expect(server.seen).toHaveLength(1)
  })
})

test('as an EIP-1193 provider it returns bare results, and fails with a code', async () => {
  const provider = make().asEIP1193Provider()
  const { request } = provider
  expect(await request({ method: 'eth_blockNumber', params: [] } as never)).toBe('0x1')
  server.script = rpcError({ code: -32_015, message: 'VM execution error.', data: `Reverted ${data}` })
  expect(await getOutcome(request({ method: 'eth_call', params: [{}] } as never))).toMatchObject({ code: 3, data })
})

test('request works detached', async () => {
  const { request } = make()
  expect(await request({ jsonrpc: '2.0', id: 5, method: 'eth_blockNumber', params: [] } as never)).toEqual({
    jsonrpc: '2.0',
    id: 5,
    result: '0x1',
  })
})

test('a transaction whose response is lost is sent once, and looked up', async () => {
  server.script = dropTransactions
  const reply = await make().request({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_sendRawTransaction',
    params: ['0x02c0'],
  } as never)
  expect(reply).toMatchObject({ result: sha3Raw('0x02c0') })
  expect(methods()).toEqual(['eth_sendRawTransaction', 'eth_getTransactionByHash'])
})

test('disconnect leaves a transport open that was passed in', async () => {
  const transport = createTransport({ url: server.url })
  new KeyrailProvider(transport).disconnect()
  expect(await transport.request({ method: 'eth_blockNumber' })).toBe('0x1')
  transport.close()
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
  const payload = { jsonrpc: '2.0', id: 7, method: 'my_search', params } as never
  expect(await make().request(payload)).toEqual({ jsonrpc: '2.0', id: 7, result: '0x1' })
  expect(await make().asEIP1193Provider().request(payload)).toBe('0x1')
  expect(server.seen.map(({ json }) => json.params)).toEqual([params, params])
})

test.each<[options: unknown, message: string]>([
  ['https://node.example', 'KeyrailProvider takes an object of options or a transport, '],
  [{ url: 'http://127.0.0.1:1', timeout: 5 }, 'Unknown option "timeout". Did you mean "timeoutMs"?'],
])('%j is rejected', (options, message) => {
  expect(() => new KeyrailProvider(options as never)).toThrow(message)
})
