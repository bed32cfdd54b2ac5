import { afterEach, expect, test, vi } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import { controlTime, until } from './controlTime.ts'
import { startFakeUpstream } from './fakeUpstream.ts'
import { chainIds, post, startGateway } from './startGateway.ts'

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

/** Starts a gateway with two nodes. The clock is stopped. */
const start = async () => {
  const nodes = [await startFakeUpstream(chainIds.testnet), await startFakeUpstream(chainIds.testnet)]
  const pass = controlTime()
  const { gateway, url, testnetKey } = await startGateway({ testnet: nodes.map((node) => node.url) })
  toStop.push(...nodes.map(({ stop }) => stop), () => gateway.close({ graceMs: 0 }))
  const rpcUrl = getApiKeyUrl(url, 'testnet', testnetKey)
  const count = (method: string) =>
    nodes.map(({ probes }) => probes.filter((queried) => queried === method).length).join(' ')
  /** Waits until each node was sent these numbers of probes and of queries of its head, and no more. */
  const untilQueries = async (each: number) => {
    const expected = `${each} ${each}`
    await until(() => count('eth_chainId') === expected && count('eth_blockNumber') === expected)
    // The responses are in the sockets of this process. When a later request is complete, they have been read.
    await fetch(`${url}/healthz`)
    expect([count('eth_chainId'), count('eth_blockNumber')]).toEqual([expected, expected])
  }
  return {
    nodes,
    pass,
    count,
    untilQueries,
    /** Lets a minute pass without a call: thirteen queries of each kind. */
    becomeIdle: async () => {
      await untilQueries(1)
      for (let queries = 2; queries <= 13; queries += 1) {
        pass(5_000)
        await untilQueries(queries)
      }
    },
    send: async (method: string, params: readonly unknown[]) => {
      const { text } = await post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
      return JSON.parse(text) as { result?: unknown; error?: { data: { reason: string } } }
    },
    statuses: () => gateway.upstreams().flatMap(({ network, status }) => (network === 'testnet' ? [status] : [])),
  }
}

test('the nodes of a network without a call for a minute are queried once a minute, until the next call', async () => {
  const { pass, count, untilQueries, becomeIdle, send } = await start()
  await becomeIdle()
  expect(count('eth_syncing')).toBe('3 3')
  pass(59_000)
  await untilQueries(13)
  pass(1_000)
  await untilQueries(14)
  expect(count('eth_syncing')).toBe('4 4')
  pass(30_000)
  expect(await send('eth_call', [1])).toMatchObject({ result: '0x1' })
  await untilQueries(15)
  expect(count('eth_syncing')).toBe('5 5')
  pass(5_000)
  await untilQueries(16)
})

test('nodes of an idle network that cannot be used are retried at once after a call, and not before', async () => {
  const { nodes, pass, count, becomeIdle, send, statuses } = await start()
  await becomeIdle()
  for (const node of nodes) node.chainId = 1
  pass(60_000)
  await until(() => statuses().join() === 'wrongChain,wrongChain')
  pass(59_000)
  for (const node of nodes) node.chainId = chainIds.testnet
  expect(count('eth_chainId')).toBe('14 14')
  expect(await send('eth_call', [1])).toMatchObject({ error: { data: { reason: 'no_upstream' } } })
  await until(() => statuses().join() === 'healthy,healthy')
  expect(count('eth_chainId')).toBe('15 15')
  expect(await send('eth_call', [1])).toMatchObject({ result: '0x1' })
})

test('a network is in use while a caller polls a filter', async () => {
  const { untilQueries, becomeIdle, send } = await start()
  const { result: filter } = await send('eth_newBlockFilter', [])
  await becomeIdle()
  expect(await send('eth_getFilterChanges', [filter])).toMatchObject({ result: '0x1' })
  await untilQueries(14)
})
