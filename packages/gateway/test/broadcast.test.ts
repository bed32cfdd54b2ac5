import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { getApiKeyUrl, getAppUrl } from '../src/index.ts'
import { createLocalLimits } from '../src/usage/limits/createLocalLimits.ts'
import type { ServiceConfigInput } from '../src/service/serviceConfig.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'
import type { TestOptions } from './createTestGateway.ts'

type NetworkInput = ServiceConfigInput['networks'][string]

// The example of EIP-155.
const raw =
  '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83'
const hash = '0x33469b22e9f636356c4160a87eb19df52b7412e8eac32a4a55ffe88ea8350788'

const accept: Behaviour = (call) => result(call, `"${hash}"`)
const fail =
  (message: string, code = -32000): Behaviour =>
  (call) =>
    `{"jsonrpc":"2.0","id":${call.id},"error":{"code":${code},"message":"${message}"}}`
const known = fail('already known')
const poor = fail('insufficient funds for gas * price + value')
const cut: Behaviour = (_, response) => {
  response.socket?.resetAndDestroy()
  return undefined
}
const hang: Behaviour = () => undefined

/** Starts a gateway in front of nodes that are named a, b, c. */
const start = async (
  behaviours: readonly Behaviour[],
  network: Partial<NetworkInput> = {},
  options: Partial<TestOptions> = {},
): Promise<StartedGateway & { nodes: readonly FakeUpstream[]; send: () => Promise<unknown>; rpcUrl: string }> => {
  const nodes = await Promise.all(
    behaviours.map(async (behave) => {
      const node = await startFakeUpstream(chainIds.testnet)
      node.behave = behave
      onTestFinished(node.stop)
      return node
    }),
  )
  const upstreams = nodes.map(({ url }, index) => ({ name: 'abc'[index] ?? '', url }))
  const started = await startGateway(
    { testnet: [] },
    { networks: { testnet: { chainId: chainIds.testnet, broadcast: 'all', upstreams, ...network } }, ...options },
  )
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  const rpcUrl = getApiKeyUrl(started.url, 'testnet', started.testnetKey)
  return { ...started, nodes, rpcUrl, send: async () => call(rpcUrl) }
}

const call = async (url: string, method = 'eth_sendRawTransaction', params: unknown = [raw]): Promise<unknown> =>
  JSON.parse((await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).text) as unknown

const counts = (nodes: readonly FakeUpstream[]): readonly number[] => nodes.map(({ bodies }) => bodies.length)
const accepted = { jsonrpc: '2.0', id: 1, result: hash }
const withMessage = (message: string) => expect.objectContaining({ error: expect.objectContaining({ message }) })

describe('a raw transaction', () => {
  test('goes to as many nodes as the config says', async () => {
    for (const [broadcast, expected] of [
      [1, [1, 0, 0]],
      [2, [1, 1, 0]],
      ['all', [1, 1, 1]],
    ] as const) {
      const { nodes, send } = await start([accept, accept, accept], { broadcast })
      expect(await send()).toEqual(accepted)
      await vi.waitFor(() => expect(counts(nodes)).toEqual(expected))
    }
  })

  test('is accepted by the first node that accepts it, and the others still get it', async () => {
    let respond = (): void => {}
    const slow: Behaviour = (one, response) => {
      respond = () => response.end(accept(one, response))
      return undefined
    }
    const { nodes, send, gateway } = await start([slow, accept])
    expect(await send()).toEqual(accepted)
    expect(counts(nodes)).toEqual([1, 1])
    expect(nodes[0]?.cut()).toBe(0)
    respond()
    await vi.waitFor(() => expect(gateway.upstreams().map(({ inFlight }) => inFlight)).toEqual([0, 0]))
    expect(gateway.upstreams().map(({ outcomes }) => outcomes.get('result'))).toEqual([1, 1])
  })

  test('is accepted although another node rejects it, cuts the connection, or does not respond', async () => {
    for (const other of [poor, cut, hang]) {
      const { send } = await start([other, accept])
      expect(await send()).toEqual(accepted)
    }
  })

  test('is accepted by nodes that know it already, with its hash', async () => {
    const { send } = await start([known, known])
    expect(await send()).toEqual(accepted)
    const { send: sendToMixed } = await start([poor, known])
    expect(await sendToMixed()).toEqual(accepted)
  })

  test('is rejected if its params are not a list', async () => {
    const { rpcUrl } = await start([known, known])
    expect(await call(rpcUrl, 'eth_sendRawTransaction', {})).toEqual(withMessage('already known'))
  })

  test('is rejected only if all nodes reject it, with what says most', async () => {
    const { send } = await start([fail('Invalid params', -32602), poor, fail('the method does not exist', -32601)])
    expect(await send()).toEqual(withMessage('insufficient funds for gas * price + value'))
  })

  test('is not reported as rejected if a node may have it', async () => {
    const { send } = await start([poor, cut])
    expect(await send()).toEqual(withMessage('Bad upstream response'))
    const { send: sendToSlow } = await start([poor, hang], {}, { bounds: { upstreamTimeoutMs: 100 } })
    expect(await sendToSlow()).toEqual(withMessage('Upstream timed out'))
  })

  test('goes to another node in place of one that cannot take it', async () => {
    const { nodes, send } = await start([fail('the method does not exist', -32601), accept, accept], { broadcast: 2 })
    expect(await send()).toEqual(accepted)
    await vi.waitFor(() => expect(counts(nodes)).toEqual([1, 1, 1]))
  })

  test('is sent again when its bytes are sent again', async () => {
    const { nodes, send } = await start([accept, accept])
    await send()
    for (const node of nodes) node.behave = known
    expect(await send()).toEqual(accepted)
    await vi.waitFor(() => expect(counts(nodes)).toEqual([2, 2]))
  })

  test('counts once', async () => {
    const usageLimits = createLocalLimits()
    onTestFinished(() => usageLimits.close())
    const { send, nodes, keys, testnetKey, rpcUrl } = await start([accept, accept], {}, { usageLimits })
    const limits = { perSecond: null, burst: 10, perDay: 10, perMonth: null }
    keys.add(testnetKey, { id: 'key-t', kind: 'apiKey', networks: ['testnet'], status: 'active', userId: 'u', limits })
    expect(await send()).toEqual(accepted)
    await vi.waitFor(() => expect(counts(nodes)).toEqual([1, 1]))
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
    expect((await post(rpcUrl, body)).headers.get('x-ratelimit-remaining-day')).toBe('8')
  })

  test('with its receipt goes to one node', async () => {
    const { nodes, rpcUrl } = await start([accept, accept])
    await call(rpcUrl, 'eth_sendRawTransactionSync')
    expect(counts(nodes)).toEqual([1, 0])
  })

  test('keeps its slot until the last node has responded, and no longer than its time', async () => {
    const { nodes, send, gateway } = await start([accept, hang], {}, { bounds: { upstreamTimeoutMs: 200 } })
    expect(await send()).toEqual(accepted)
    expect(gateway.upstreams().map(({ inFlight }) => inFlight)).toEqual([0, 1])
    await vi.waitFor(() => expect(gateway.upstreams().map(({ inFlight }) => inFlight)).toEqual([0, 0]))
    expect(counts(nodes)).toEqual([1, 1])
  })
})

describe('a private transaction', () => {
  const startPrivate = async (sendsPrivately: boolean) => {
    const nodes = await Promise.all(
      ['own', 'other', 'relay'].map(async () => {
        const node = await startFakeUpstream(chainIds.testnet)
        node.behave = accept
        onTestFinished(node.stop)
        return node
      }),
    )
    const started = await startGateway(
      { testnet: [] },
      {
        networks: {
          testnet: {
            chainId: chainIds.testnet,
            broadcast: 'all',
            methodPresets: ['private-transactions'],
            methods: {
              blxr_tx: { addresses: ['rawTransaction'] },
              mev_simBundle: { read: true, upstreams: ['relay'] },
            },
            // The relay comes first, so that any call that may go there does.
            upstreams: [2, 0, 1].map((index) => ({
              url: nodes[index]?.url ?? '',
              name: ['own', 'other', 'relay'][index] ?? '',
              privateTransactions: index === 2,
            })),
          },
        },
      },
    )
    onTestFinished(() => started.gateway.close({ graceMs: 0 }))
    started.keys.add(started.app, {
      id: 'app-1',
      kind: 'app',
      networks: ['testnet'],
      status: 'active',
      services: sendsPrivately ? ['Node API', 'Private transactions'] : ['Node API'],
    })
    return { nodes, url: getAppUrl(started.url, 'testnet', started.app) }
  }

  test('goes to the nodes for those only', async () => {
    const { nodes, url } = await startPrivate(false)
    expect(await call(url, 'eth_sendPrivateTransaction', [{ tx: raw }])).toEqual(accepted)
    await pause(20)
    expect(counts(nodes)).toEqual([0, 0, 1])
  })

  test('is each one of an app with that service', async () => {
    const { nodes, url } = await startPrivate(true)
    expect(await call(url)).toEqual(accepted)
    await pause(20)
    expect(counts(nodes)).toEqual([0, 0, 1])
  })

  test('is each one of an app with that service, under any name that the config adds', async () => {
    const { nodes, url } = await startPrivate(true)
    expect(await call(url, 'blxr_tx')).toEqual(accepted)
    const { nodes: publicNodes, url: publicUrl } = await startPrivate(false)
    expect(await call(publicUrl, 'blxr_tx')).toEqual(accepted)
    expect([counts(nodes), counts(publicNodes)]).toEqual([
      [0, 0, 1],
      [1, 0, 0],
    ])
  })

  test('is simulated by its nodes only, alone and in a batch with other reads', async () => {
    const { nodes, url } = await startPrivate(false)
    for (const node of nodes) node.behave = (one) => result(one, 'null')
    expect(await call(url, 'eth_callBundle', [{ txs: [raw] }])).toMatchObject({ result: null })
    expect(await call(url, 'mev_simBundle', [{ txs: [raw] }])).toMatchObject({ result: null })
    expect(counts(nodes)).toEqual([0, 0, 2])
    const batch = ['eth_callBundle', 'eth_gasPrice'].map((method, id) => ({ jsonrpc: '2.0', id, method, params: [] }))
    const { text } = await post(url, JSON.stringify(batch))
    expect(JSON.parse(text)).toMatchObject([{ result: null }, { result: null }])
    const [own = '', other = '', relay = ''] = nodes.map(({ bodies }) => bodies.join(''))
    expect(own + other).not.toContain('eth_callBundle')
    expect(own).toContain('eth_gasPrice')
    expect(relay).not.toContain('eth_gasPrice')
  })

  test('is all that its nodes get: no read, also after one, and no other write', async () => {
    const { nodes, url } = await startPrivate(true)
    await call(url)
    for (const node of nodes) node.behave = (one) => result(one, 'null')
    for (const [method, params] of [
      ['eth_getTransactionByHash', [hash]],
      ['eth_getBlockByNumber', ['pending', false]],
      ['eth_newPendingTransactionFilter', []],
      ['eth_getLogs', [{}]],
    ] as const)
      await call(url, method, params)
    expect(nodes[0]?.bodies.length).toBeGreaterThanOrEqual(4)
    expect(nodes[2]?.bodies.length).toBe(1)
  })

  test('goes nowhere else when its nodes fail', async () => {
    const { nodes, url } = await startPrivate(true)
    for (const behave of [fail('the method does not exist', -32601), poor, cut]) {
      if (nodes[2] !== undefined) nodes[2].behave = behave
      expect(await call(url)).toHaveProperty('error')
    }
    expect(counts(nodes).slice(0, 2)).toEqual([0, 0])
  })

  test('is not one of another app', async () => {
    const { nodes, url } = await startPrivate(false)
    expect(await call(url)).toEqual(accepted)
    await vi.waitFor(() => expect(counts(nodes)).toEqual([1, 1, 0]))
  })

  test('is rejected on a network without such a node', async () => {
    const { keys, app, url, nodes } = await start([accept])
    const services = ['Node API', 'Private transactions']
    keys.add(app, { id: 'app-1', kind: 'app', networks: ['testnet'], status: 'active', services })
    expect(await call(getAppUrl(url, 'testnet', app))).toMatchObject({ error: { code: -32601 } })
    expect(counts(nodes)).toEqual([0])
  })

  test('is not all that a network can be for', async () => {
    const upstreams = [{ url: 'http://127.0.0.1:1', privateTransactions: true }]
    await expect(start([accept], { upstreams })).rejects.toThrow('upstreams has only nodes with "privateTransactions"')
  })

  test('needs a node for those, which the config must have', async () => {
    await expect(start([accept], { methodPresets: ['private-transactions'] })).rejects.toThrow(
      'methodPresets has "private-transactions", but no node gets those',
    )
  })
})
