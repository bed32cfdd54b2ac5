import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createMetricCounts } from '../src/service/createMetricCounts.ts'
import { compileAllowList } from '../src/auth/allowList/compileAllowList.ts'
import { getApiKeyUrl, getAppUrl } from '../src/index.ts'
import { methodPresets, methods } from '../src/lib/methods.ts'
import { parseServiceConfig } from '../src/service/parseServiceConfig.ts'
import { createLocalLimits } from '../src/usage/limits/createLocalLimits.ts'
import type { ServiceConfigInput } from '../src/service/serviceConfig.ts'
import type { TestOptions } from './createTestGateway.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

type NetworkInput = ServiceConfigInput['networks'][string]

const startNode = async (behave?: Behaviour): Promise<FakeUpstream> => {
  const node = await startFakeUpstream(chainIds.testnet)
  onTestFinished(node.stop)
  if (behave !== undefined) node.behave = behave
  return node
}

const start = async (
  nodes: Readonly<Record<string, FakeUpstream>>,
  network: Partial<NetworkInput>,
  options: Partial<TestOptions> = {},
): Promise<StartedGateway & { call: (method: string, params?: unknown) => Promise<unknown> }> => {
  const upstreams = Object.entries(nodes).map(([name, { url }]) => ({ name, url }))
  const started = await startGateway(
    { testnet: [] },
    { networks: { testnet: { chainId: chainIds.testnet, upstreams, ...network } }, ...options },
  )
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  const rpcUrl = getApiKeyUrl(started.url, 'testnet', started.testnetKey)
  return {
    ...started,
    call: async (method, params = []) =>
      JSON.parse((await post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).text) as unknown,
  }
}

const cut: Behaviour = (_, response) => {
  response.socket?.resetAndDestroy()
  return undefined
}
const notFound: Behaviour = (call) =>
  `{"jsonrpc":"2.0","id":${call.id},"error":{"code":-32601,"message":"the method ${call.method} does not exist"}}`
const withReason = (reason: string) =>
  expect.objectContaining({ error: expect.objectContaining({ data: expect.objectContaining({ reason }) }) })
const one = { jsonrpc: '2.0', id: 1, result: '0x1' }

describe('a method that the config adds', () => {
  test('is offered on its network only, and no other unknown method is', async () => {
    const { call, app, url } = await start(
      { own: await startNode() },
      { methods: { zks_getBridgeContracts: { read: true } } },
    )
    expect(await call('zks_getBridgeContracts')).toEqual(one)
    expect(await call('zks_L1ChainId')).toMatchObject({ error: { code: -32601 } })
    const other = await post(getAppUrl(url, 'testnet', app), '{"jsonrpc":"2.0","id":1,"method":"my_other","params":[]}')
    expect(other.text).toContain('my_other')
  })

  test('is a write by default, so it is not sent again when its response is lost', async () => {
    const nodes = { first: await startNode(cut), second: await startNode() }
    const { call } = await start(nodes, { methods: { my_call: {}, my_read: { read: true } } })
    expect(await call('my_call')).toEqual(withReason('upstream_bad'))
    expect(nodes.second.bodies).toEqual([])
    expect(await call('my_read')).toEqual(one)
    expect(nodes.second.bodies).toHaveLength(1)
  })

  test('goes to the named nodes only', async () => {
    const nodes = { own: await startNode(), pimlico: await startNode() }
    const { call } = await start(nodes, {
      methodPresets: ['erc4337'],
      methods: { eth_sendUserOperation: { write: true, upstreams: ['pimlico'] }, eth_call: { upstreams: ['own'] } },
    })
    expect(await call('eth_supportedEntryPoints')).toEqual(one)
    expect(await call('eth_sendUserOperation')).toEqual(one)
    expect(await call('eth_call')).toEqual(one)
    expect([nodes.own.bodies.length, nodes.pimlico.bodies.length]).toEqual([2, 1])
  })

  test('goes to another node after one that lacks it, and later calls go there at once', async () => {
    const nodes = { first: await startNode(notFound), second: await startNode() }
    const { call } = await start(nodes, { methods: { my_call: {} } })
    expect(await call('my_call')).toEqual(one)
    expect(await call('my_call')).toEqual(one)
    expect([nodes.first.bodies.length, nodes.second.bodies.length]).toEqual([1, 2])
  })

  test('counts by its weight', async () => {
    const usageLimits = createLocalLimits()
    onTestFinished(() => usageLimits.close())
    const { url, testnetKey, keys } = await start(
      { own: await startNode() },
      { methods: { my_call: { weight: 7 } } },
      { usageLimits },
    )
    const limits = { perSecond: null, burst: 10, perDay: 10, perMonth: null }
    keys.add(testnetKey, { id: 'key-t', kind: 'apiKey', networks: ['testnet'], status: 'active', userId: 'u', limits })
    const rpcUrl = getApiKeyUrl(url, 'testnet', testnetKey)
    const cost = async (method: string) =>
      (await post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }))).headers.get(
        'x-ratelimit-cost',
      )
    expect([await cost('my_call'), await cost('eth_call')]).toEqual(['7', '1'])
  })

  test('can be listed by a node', async () => {
    const nodes = { own: await startNode(), bundler: await startNode() }
    const { call } = await start(nodes, {
      upstreams: [
        { name: 'bundler', url: nodes.bundler.url, allowMethods: ['my_call', 'eth_supportedEntryPoints'] },
        { name: 'own', url: nodes.own.url, denyMethods: ['my_call'] },
      ],
      methods: { my_call: {} },
    })
    expect(await call('my_call')).toEqual(one)
    expect(await call('eth_call')).toEqual(one)
    expect([nodes.bundler.bodies.length, nodes.own.bodies.length]).toEqual([1, 1])
  })
})

test('a well-known network offers the methods of its stack, unless the config says otherwise', async () => {
  const node = await startFakeUpstream(324)
  onTestFinished(node.stop)
  node.behave = (call) => result(call, '"0x9"')
  const { gateway, keys, app, url } = await startGateway(
    { testnet: [] },
    { networks: { 'zksync-mainnet': { upstreams: [{ url: node.url }] } } },
  )
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  keys.add(app, { id: 'app-1', kind: 'app', networks: ['zksync-mainnet'], status: 'active' })
  const body = '{"jsonrpc":"2.0","id":1,"method":"zks_L1BatchNumber","params":[]}'
  expect((await post(getAppUrl(url, 'zksync-mainnet', app), body)).text).toContain('"0x9"')
  await gateway.reload({ networks: { 'zksync-mainnet': { upstreams: [{ url: node.url }], methodPresets: [] } } })
  expect((await post(getAppUrl(url, 'zksync-mainnet', app), body)).text).toContain('method_not_found')
})

describe('an app with an address list', () => {
  const address = `0x${'a1'.repeat(20)}`

  test('can call a method that the config adds only if it says which params name addresses', async () => {
    const { keys, app, url } = await start(
      { own: await startNode() },
      {
        methods: {
          my_call: { read: true },
          my_balance: { read: true, addresses: ['address', 'block'] },
          my_version: { read: true, addresses: 'none' },
        },
      },
    )
    keys.add(app, {
      id: 'app-1',
      kind: 'app',
      networks: ['testnet'],
      status: 'active',
      allow: compileAllowList({ addresses: [{ value: address, label: '' }] }),
    })
    const call = async (method: string, params: unknown) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      return JSON.parse((await post(getAppUrl(url, 'testnet', app), body)).text) as unknown
    }
    expect(await call('my_call', [])).toEqual(withReason('address_not_allowed'))
    expect(await call('my_balance', [address, 'latest'])).toEqual(one)
    expect(await call('my_balance', [`0x${'b2'.repeat(20)}`, 'latest'])).toEqual(withReason('address_not_allowed'))
    expect(await call('my_version', [])).toEqual(one)
  })
})

describe('the config', () => {
  const parse = (network: Partial<NetworkInput>) =>
    parseServiceConfig({
      publicUrl: 'https://rpc.example.org',
      networks: { ours: { chainId: 7, upstreams: [{ url: 'http://127.0.0.1:1', name: 'own' }], ...network } },
    })

  test.each([
    'admin_addPeer',
    'engine_newPayloadV4',
    'personal_sign',
    'miner_start',
    'anvil_mine',
    'evm_mine',
    'hardhat_reset',
    'testing_buildBlockV1',
    'eth_sign',
    'eth_signTypedData_v3',
    'eth_sendTransaction',
    'eth_getWork',
    'eth_subscription',
    'eth_resend',
    'eea_sendTransaction',
    'klay_sendTransactionAsFeePayer',
    'kaia_signTransaction',
    'parity_signMessage',
    'clique_propose',
    'tenderly_setBalance',
    'tenderly_addBalance',
  ])('rejects %s', (name) => {
    expect(() => parse({ methods: { [name]: {} } })).toThrow(
      'networks.ours.methods has a method that no network can offer',
    )
  })

  test.each<[string, Partial<NetworkInput>, string]>([
    ['a name that is not a method', { methods: { bridge: {} } }, 'methods has a name that is not a method'],
    ['a read that is a write', { methods: { my_call: { read: true, write: true } } }, 'my_call.read must not be true'],
    [
      'a known write as a read',
      { methods: { eth_sendUserOperation: { read: true } } },
      'eth_sendUserOperation.read must not be true, because the method is known as a write',
    ],
    [
      'a known read as a write',
      { methods: { eth_call: { write: true } } },
      'eth_call.write must not be true, because the method is known as a read',
    ],
    [
      'params of a known method',
      { methods: { eth_call: { addresses: 'none' } } },
      'eth_call.addresses must not be set',
    ],
    [
      'an unknown node',
      { methods: { my_call: { upstreams: ['other'] } } },
      'my_call.upstreams[0] must be the name of a node of this network: own',
    ],
    [
      'an unknown kind of param',
      { methods: { my_call: { addresses: ['adress' as 'address'] } } },
      'my_call.addresses must be "none" or a list',
    ],
    ['a weight above the burst', { methods: { my_call: { weight: 900_000 } } }, 'counts my_call as 900000'],
    ['an unknown preset', { methodPresets: ['erc-4337' as 'erc4337'] }, 'methodPresets[0] must be'],
    [
      'an unknown method of a node',
      { upstreams: [{ url: 'http://127.0.0.1:1', allowMethods: ['my_call'] }] },
      'upstreams[0].allowMethods[0] has an unknown method "my_call"',
    ],
  ])('rejects %s', (_, network, message) => {
    expect(() => parse(network)).toThrow(message)
  })

  test.each(['bor_getSigners', 'my_design', 'my_signals', 'eth_sendUserOperation', 'tenderly_simulateTransaction'])(
    'accepts %s',
    (name) => {
      expect(parse({ methods: { [name]: {} } }).networks['ours']?.methods).toHaveProperty(name)
    },
  )

  test('has at most 1,000 methods of all networks, because usage and metrics count each by its name', () => {
    const toNetworks = (count: number) =>
      Object.fromEntries(
        Array.from({ length: 6 }, (_, network) => [
          `network-${network}`,
          {
            chainId: network + 1,
            upstreams: [{ url: 'http://127.0.0.1:1' }],
            methods: Object.fromEntries(
              Array.from({ length: count }, (__, index) => [`my_${network}call${index}`, {}]),
            ),
          },
        ]),
      )
    const parseAll = (count: number) =>
      parseServiceConfig({ publicUrl: 'https://node.example', networks: toNetworks(count) })
    expect(() => parseAll(167)).toThrow('must add at most 1000 methods together')
    const { networks } = parseAll(166)
    const counts = createMetricCounts()
    const names = Object.values(networks).flatMap((network) => Object.keys(network.methods))
    for (const name of [...methods.keys(), ...names, 'node-own', 'other']) counts.countCalls('ours', name, 'succeeded')
    expect(counts.calls()).toHaveLength(methods.size + 6 * 166 + 2)
    counts.countCalls('ours', 'my_more', 'succeeded')
    for (let index = 0; index < 10; index += 1) counts.countCalls('ours', `my_more${index}`, 'succeeded')
    expect(counts.calls().length).toBeLessThanOrEqual(methods.size + 1_000 + 3)
  })

  test('has at most 200 methods of a network', () => {
    const methods = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`my_call${index}`, {}]))
    expect(() => parse({ methods })).toThrow('must have at most 200 methods')
  })
})

test('the docs list the methods of each preset', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/service/methods.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z0-9-]+)` +\|[^|]*\|[^|]*\|([^|]*)\|$/gm)]
  const listed = Object.fromEntries(rows.map(([, preset = '', names = '']) => [preset, names.match(/\w+/g)]))
  const built = methodPresets.map((preset) => [
    preset,
    [...methods].flatMap(([name, { presets }]) => (presets?.includes(preset) === true ? [name] : [])),
  ])
  expect(listed).toEqual(Object.fromEntries(built))
})
