import { createProvider, createTransport } from '@keyrail/core'
import type { FullTransport } from '@keyrail/core'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { raw, startFaultServer } from './faultServer.ts'
import type { FaultServer } from './faultServer.ts'
import { startAnvil } from './startAnvil.ts'

const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const slot = `0x${'0'.repeat(64)}`

/** Methods whose block is optional in the specification and demanded by nodes, with the params before it. */
const methods: Readonly<Record<string, readonly unknown[]>> = {
  eth_call: [{ to: account }],
  eth_getBalance: [account],
  eth_getCode: [account],
  eth_getTransactionCount: [account],
  eth_getStorageAt: [account, slot],
  eth_getProof: [account, [slot]],
  eth_getStorageValues: [{ [account]: [slot] }],
}

const anvil = await startAnvil()
// A node that demands the block, in geth's words.
const strict: FaultServer = await startFaultServer()
const transport: FullTransport = createTransport({ url: strict.url })
beforeEach(() => {
  strict.seen.length = 0
  strict.script = (seen, response, socket) => {
    const { id, method, params } = seen.json
    const place = methods[method]?.length ?? 0
    if (params[place] === undefined || params[place] === null)
      return raw(
        200,
        `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"missing value for required argument ${place}"}}`,
      )(seen, response, socket)
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: params }))
  }
})
afterAll(() => {
  transport.close()
  return Promise.all([strict.close(), anvil.stop()])
})

describe.each(Object.entries(methods))('%s', (method, params) => {
  test.each([
    ['left out', []],
    ['undefined', [undefined]],
    ['null', [null]],
  ])('asks for the latest block if the block is %s', async (_, block) => {
    const args = { method, params: [...params, ...block] }
    expect(await transport.request(args)).toEqual([...params, 'latest'])
    expect(await createProvider(transport).request(args)).toEqual([...params, 'latest'])
    const [settled] = (await transport.batch([args] as never)) as readonly unknown[]
    expect(settled).toEqual({ status: 'fulfilled', value: [...params, 'latest'] })
  })

  test.each(['latest', 'pending', '0x1', { blockHash: slot }])('keeps the block %j', async (block) => {
    expect(await transport.request({ method, params: [...params, block] })).toEqual([...params, block])
  })

  test('leaves the given params as they are', async () => {
    const given = Object.freeze([...params])
    await transport.request({ method, params: given })
    expect(given).toEqual(params)
  })

  test('is answered by anvil without a block', async () => {
    const real = createTransport({ url: anvil.url })
    const answer = await real.request({ method, params: [...params, 'latest'] })
    expect(await real.request({ method, params })).toEqual(answer)
    real.close()
  })
})

test('overrides after a block that is left out stay in their place', async () => {
  const overrides = { [account]: { balance: '0x1' } }
  expect(await transport.request({ method: 'eth_call', params: [{ to: account }, undefined, overrides] })).toEqual([
    { to: account },
    'latest',
    overrides,
  ])
})

test('a call without a block and one that names the latest share a request', async () => {
  const calls = [[account], [account, 'latest'], [account, undefined]].map((params) =>
    transport.request({ method: 'eth_getBalance', params }),
  )
  expect(new Set((await Promise.all(calls)).map((params) => JSON.stringify(params))).size).toBe(1)
  expect(strict.seen).toHaveLength(1)
})

test.each<[method: string, params: readonly unknown[] | Readonly<Record<string, unknown>>]>([
  // An earlier param is missing: the node reports which.
  ['eth_getStorageAt', [account]],
  ['eth_getStorageAt', [account, undefined]],
  ['eth_call', []],
  ['eth_getBalance', { address: account }],
  // Nodes take these without a block, and viem and ethers send them so: what that means is the node's choice.
  ['eth_estimateGas', [{ to: account }]],
  ['eth_createAccessList', [{ to: account }]],
  ['eth_getTransactionByHash', [slot]],
  ['my_method', [account]],
])('%s with %j is sent as it is', async (method, params) => {
  await transport.request({ method, params }).catch(() => {})
  expect(strict.seen[0]?.json).toMatchObject({
    method,
    params: JSON.parse(JSON.stringify(params).replace(',null', '')) as unknown,
  })
})
