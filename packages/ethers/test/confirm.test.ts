import { reply, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { isCallException } from 'ethers'
import { afterEach, describe, expect, test } from 'vitest'
import { confirm, failover, KeyrailProvider } from '../src/index.ts'

const account = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const toClose: (() => unknown)[] = []
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close()
})

/** A node with a head, and a result or an error for all other calls. */
const node =
  (head: number, response: object): Script =>
  (request, response_, socket) =>
    request.json.method === 'eth_blockNumber'
      ? reply(`0x${head.toString(16)}`)(request, response_, socket)
      : response_.end(JSON.stringify({ jsonrpc: '2.0', id: request.json.id, ...response }))

/** A provider with one endpoint for each node, of which two must agree. Each is on a port of its own, so it has a vote of its own. */
const create = async (scripts: readonly Script[]): Promise<{ provider: KeyrailProvider; servers: FaultServer[] }> => {
  const servers = await Promise.all(scripts.map((script) => startFaultServer(script)))
  for (const server of servers) toClose.push(server.close)
  const endpoints = failover(
    servers.map(({ url }) => ({ url })),
    { chainId: 1, confirm: confirm({ nodes: 2 }) },
  )
  const provider = new KeyrailProvider({ endpoints, retry: false })
  toClose.push(() => provider.destroy())
  return { provider, servers }
}

const count = (servers: readonly FaultServer[], method: string): number[] =>
  servers.map(({ seen }) => seen.filter(({ json }) => json.method === method).length)

describe('what FallbackProvider with a quorum gets wrong', () => {
  // https://github.com/ethers-io/ethers.js/issues/1115
  test('#1115: nodes with other heads agree on the newest block and on reads at it', async () => {
    const { provider, servers } = await create([node(101, { result: '0x5' }), node(100, { result: '0x5' })])
    expect(await provider.getBlockNumber()).toBe(101)
    expect(await provider.getBalance(account)).toBe(5n)
    for (const { seen } of servers)
      expect(seen.find(({ json }) => json.method === 'eth_getBalance')?.json.params).toEqual([
        account.toLowerCase(),
        '0x64',
      ])
  })

  // https://github.com/ethers-io/ethers.js/issues/3783
  test('#3783: an endpoint with a larger weight has one vote, like each other', async () => {
    const servers = await Promise.all(
      [1, 2, 2].map((balance) => startFaultServer(node(100, { result: `0x${balance}` }))),
    )
    for (const server of servers) toClose.push(server.close)
    const endpoints = failover(
      servers.map(({ url }, at) => ({ url, weight: at === 0 ? 5 : 1 })),
      { chainId: 1, confirm: confirm({ nodes: 2 }) },
    )
    const provider = new KeyrailProvider({ endpoints, retry: false })
    toClose.push(() => provider.destroy())
    expect(await provider.getBalance(account)).toBe(2n)
  })

  // https://github.com/ethers-io/ethers.js/issues/4160
  test('#4160: one endpoint works without confirmation, and with it is an error that says what is missing', async () => {
    const server = await startFaultServer(node(100, { result: '0x5' }))
    toClose.push(server.close)
    const provider = new KeyrailProvider({ endpoints: failover([{ url: server.url }], { chainId: 1 }) })
    toClose.push(() => provider.destroy())
    expect(await provider.getBalance(account)).toBe(5n)
    const endpoints = failover([{ url: server.url }], { chainId: 1, confirm: confirm() })
    expect(() => new KeyrailProvider({ endpoints })).toThrow('confirm needs 2 endpoints of different hosts')
  })

  // https://github.com/ethers-io/ethers.js/issues/4766
  test('#4766: no further endpoint is asked once enough agree', async () => {
    const scripts = [1, 2, 3, 4].map(() => node(100, { result: '0x5' }))
    const { provider, servers } = await create(scripts)
    expect(await provider.getBalance(account)).toBe(5n)
    expect(count(servers, 'eth_getBalance')).toEqual([1, 1, 0, 0])
  })

  // https://github.com/ethers-io/ethers.js/issues/4862
  test('#4862: reverts agree although words and ids differ, and the caller gets the revert', async () => {
    const data = `0x08c379a0${'0'.repeat(62)}20${'0'.repeat(62)}026e6f${'0'.repeat(60)}`
    const { provider, servers } = await create([
      node(100, { error: { code: 3, message: 'execution reverted: no', data } }),
      node(100, {
        error: {
          code: -32015,
          message: 'VM execution error.',
          data: `Reverted ${data.toUpperCase().replace('0X', '0x')}`,
        },
      }),
    ])
    const error: unknown = await provider.call({ to: account, data: '0x' }).catch((reason: unknown) => reason)
    expect(isCallException(error as Error) && error).toMatchObject({ reason: 'no' })
    expect(count(servers, 'eth_call')).toEqual([1, 1])
  })
})

test('endpoints that disagree are an error', async () => {
  const { provider } = await create([node(100, { result: '0x5' }), node(100, { result: '0x6' })])
  await expect(provider.getBalance(account)).rejects.toThrow('the endpoints disagree on the result: 2 must agree')
})
