import { createTransport } from '@keyrail/core'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createClient, estimateGas } from '../src/index.ts'
import { startCountingServer } from './countingServer.ts'

const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const slot = `0x${'0'.repeat(64)}` as const
const anvil = await startAnvil()
const server = await startCountingServer()
const client = createClient({ url: server.url })
beforeEach(() => {
  server.received.length = 0
  server.respond = (_, params) => params
})
afterAll(() => {
  client.close()
  return Promise.all([server.close(), anvil.stop()])
})

describe('a method without a block param requests the latest block', () => {
  test.each([
    ['eth_call', [{ to: account }]],
    ['eth_estimateGas', [{ to: account }]],
    ['eth_createAccessList', [{ to: account }]],
    ['eth_getBalance', [account]],
    ['eth_getCode', [account]],
    ['eth_getTransactionCount', [account]],
    ['eth_getStorageAt', [account, slot]],
    ['eth_getProof', [account, [slot]]],
    ['eth_getStorageValues', [{ [account]: [slot] }]],
    ['eth_simulateV1', [{ blockStateCalls: [{ calls: [{ to: account }] }] }]],
  ] as const)('%s', async (method, params) => {
    const call = (of: object, ...more: unknown[]): Promise<unknown> =>
      (Reflect.get(of, method) as (...params: unknown[]) => Promise<unknown>)(...params, ...more)
    expect(await call(client)).toEqual([...params, 'latest'])
    expect(await call(client, undefined)).toEqual([...params, 'latest'])
    expect(await call(client, null)).toEqual([...params, 'latest'])
    expect(await call(client.with({ timeoutMs: 5_000 }))).toEqual([...params, 'latest'])
    expect(await client.request({ method, params } as never)).toEqual([...params, 'latest'])
    for (const block of ['latest', 'pending', '0x1', { blockHash: slot }])
      expect(await call(client, block)).toEqual([...params, block])

    const real = createClient({ url: anvil.url })
    expect(await call(real)).toEqual(await call(real, 'latest'))
    real.close()
  })

  test('eth_estimateGas, with overrides after it', async () => {
    const overrides = { [account]: { balance: '0x1' } } as const
    expect(await client.eth_estimateGas({ to: account }, undefined, overrides)).toEqual([
      { to: account },
      'latest',
      overrides,
    ])
  })
})

test('the gas of a transaction is estimated on the latest block, unless another is named', async () => {
  server.respond = () => '0x5208'
  expect(await estimateGas(client, { to: account })).toBe(21_000n)
  expect(await estimateGas(client, { to: account, block: 'pending' })).toBe(21_000n)
  expect(server.received.map(({ params }) => (params as unknown[])[1])).toEqual(['latest', 'pending'])
})

test('reads with and without a block share a request', async () => {
  const calls = [client.eth_getBalance(account), client.eth_getBalance(account, 'latest')]
  expect(await Promise.all(calls)).toEqual([
    [account, 'latest'],
    [account, 'latest'],
  ])
  expect(server.received).toHaveLength(1)
})

test.each([
  // An earlier param is missing: the node reports which.
  ['eth_getStorageAt', [account]],
  ['eth_call', []],
  ['eth_getBalance', { address: account }],
  ['eth_getTransactionByHash', [slot]],
  ['my_method', [account]],
])('%s with %j is sent as it is', async (method, params) => {
  const given = Object.freeze(params)
  await client.request({ method, params: given } as never)
  expect(server.received).toEqual([{ method, params }])
})

test('the params of a caller are not changed', async () => {
  const params = Object.freeze([account] as const)
  expect(await client.request({ method: 'eth_getBalance', params })).toEqual([account, 'latest'])
  expect(params).toEqual([account])
})

test('a transport sends params as they are', async () => {
  const transport = createTransport({ url: server.url })
  for (const method of ['eth_getBalance', 'eth_estimateGas'])
    expect(await transport.request({ method, params: [account] })).toEqual([account])
  transport.close()
})
