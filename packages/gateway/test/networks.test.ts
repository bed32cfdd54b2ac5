import { request } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '../src/index.ts'
import { createTestGateway } from './createTestGateway.ts'
import type { TestConfig, TestGateway } from './createTestGateway.ts'
import { createMemoryKeyStore } from './createMemoryKeyStore.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { unreachableUrl, post } from './startGateway.ts'

const read = '{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["0x01","latest"]}'
const names = ['base-mainnet', 'base-sepolia', 'our-chain'] as const
const key = createApiKey('app')
const keys = createMemoryKeyStore()
keys.add(key, { id: 'key-1', kind: 'app', networks: names, status: 'active' })

let nodes: FakeUpstream[]
type NetworkInput = TestConfig['networks'][string]

let networks: Record<string, NetworkInput>
let gateway: TestGateway
let url: string

beforeAll(async () => {
  nodes = await Promise.all(names.map((_, index) => startFakeUpstream(index + 1)))
  for (const [index, node] of nodes.entries()) node.behave = (call) => result(call, `"${names[index]}"`)
})
afterAll(() => Promise.all(nodes.map((node) => node.stop())))
afterEach(() => gateway.close())

const toNetwork = (index: number, more: Partial<NetworkInput> = {}): NetworkInput => ({
  chainId: index + 1,
  upstreams: [{ url: nodes[index]?.url ?? '' }],
  ...more,
})
const start = async (): Promise<void> => {
  networks = {
    'base-mainnet': toNetwork(0, { aliases: ['base'] }),
    'base-sepolia': toNetwork(1),
    'our-chain': toNetwork(2),
  }
  gateway = createTestGateway({ networks, keys, networkHosts: '{network}.rpc.example.org' })
  ;({ url } = await gateway.listen())
}
const call = async (network: string): Promise<unknown> => {
  const { status, text } = await post(`${url}/${network}/v2/${key}`, read)
  const { result: value, error } = JSON.parse(text) as { result?: unknown; error?: { message: string } }
  return status === 200 ? value : [status, error?.message]
}
/** A call at the host of a network. */
const callHost = (host: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/json' }
    const sent = request(`${url}/v2/${key}`, { method: 'POST', headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve(response.statusCode === 200 ? JSON.parse(text).result : response.statusCode))
    })
    sent.on('error', reject)
    sent.end(read)
  })

describe('networks', () => {
  test('a call reaches its network by name, alias, chain id and host', async () => {
    await start()
    for (const name of names) expect(await call(name)).toBe(name)
    expect(await call('base')).toBe('base-mainnet')
    expect(await call('3')).toBe('our-chain')
    expect(await callHost('base-sepolia.rpc.example.org')).toBe('base-sepolia')
    expect(await callHost('BASE.rpc.example.org:8443')).toBe('base-mainnet')
    expect(await callHost('rpc.example.org')).toBe(404)
  })

  test('a reload adds, changes and removes networks', async () => {
    await start()
    const { 'our-chain': _, ...rest } = networks
    await gateway.reload({ networks: { ...rest, 'base-mainnet': toNetwork(0), 'new-chain': toNetwork(2) } })
    expect(await call('our-chain')).toEqual([
      404,
      'This service has no network our-chain: GET /api/networks lists those that it has',
    ])
    expect(await call('base')).toEqual([404, expect.stringContaining('no network base:')])
    expect(await call('base-seplia')).toEqual([
      404,
      'This service has no network base-seplia: did you mean base-sepolia? GET /api/networks lists those that it has',
    ])
    expect(await call('new-chain')).toEqual([
      403,
      expect.stringMatching(
        /^API key is not enabled for new-chain: it is for base-mainnet, base-sepolia, our-chain\. (?:Enable|An API key)/,
      ),
    ])
    expect(await call('base-sepolia')).toBe('base-sepolia')
    await gateway.reload({ networks })
    expect(await call('our-chain')).toBe('our-chain')
    expect(await call('base')).toBe('base-mainnet')
  })

  test('a network without a node leaves the service ready', async () => {
    await start()
    await gateway.reload({
      networks: { ...networks, 'our-chain': toNetwork(2, { upstreams: [{ url: unreachableUrl }] }) },
    })
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'degraded', degraded: ['upstreams'], networks: ['our-chain'] },
    ])
    expect(await call('our-chain')).toEqual([503, 'No healthy upstream for our-chain'])
    expect(await call('base')).toBe('base-mainnet')
  })
})
