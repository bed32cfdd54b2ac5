import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { getAppUrl } from '../src/index.ts'
import { findKnownNetwork } from '../src/lib/findKnownNetwork.ts'
import { parseServiceConfig } from '../src/service/parseServiceConfig.ts'
import type { ServiceConfigInput } from '../src/service/serviceConfig.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { post, startGateway } from './startGateway.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/migrate/erpc.md'), 'utf8')
const configs = [...page.matchAll(/^```json\n(.*?)^```/gms)]
  .map(([, text = '']) => JSON.parse(text) as ServiceConfigInput)
  .filter((config) => config.publicUrl !== undefined)

/** The nodes of a network that the page writes as objects, which are all. */
const getNodes = ({ upstreams = [] }: ServiceConfigInput['networks'][string]) =>
  upstreams.flatMap((node) => (typeof node === 'string' ? [] : [node]))

test('the page has two whole configs', () => {
  expect(configs.map(({ networks }) => Object.keys(networks))).toEqual([
    ['ethereum-mainnet'],
    ['ethereum-mainnet', 'arbitrum-one'],
  ])
})

describe.each(configs)('the translated config %#', (config) => {
  test('starts, and serves each network from its first node, and from the next one if that fails', async () => {
    const nodes = new Map<string, readonly FakeUpstream[]>()
    const networks: Record<string, ServiceConfigInput['networks'][string]> = {}
    for (const [name, network] of Object.entries(config.networks)) {
      const own: FakeUpstream[] = []
      for (const { name: label } of getNodes(network)) {
        const node = await startFakeUpstream(findKnownNetwork(name, undefined)?.chainId ?? 0)
        onTestFinished(node.stop)
        node.behave = (call) => result(call, JSON.stringify(label))
        own.push(node)
      }
      nodes.set(name, own)
      const upstreams = getNodes(network).map(({ url: _url, urlEnv: _urlEnv, ...rest }, index) => ({
        ...rest,
        url: own[index]?.url ?? '',
      }))
      networks[name] = { ...network, upstreams }
    }
    const { limits, bounds } = parseServiceConfig({ ...config, networks })
    expect(bounds.upstreamTimeoutMs).toBe(30_000)
    const started = await startGateway({ testnet: [] }, { networks, limits, bounds: config.bounds })
    onTestFinished(() => started.gateway.close({ graceMs: 0 }))
    started.keys.add(started.app, { id: 'app-1', kind: 'app', networks: Object.keys(networks), status: 'active' })
    const call = async (network: string, block: string): Promise<string> => {
      const params = [{}, block]
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params })
      return (await post(getAppUrl(started.url, network, started.app), body)).text
    }
    for (const [name, own] of nodes) {
      const [first, second] = getNodes(networks[name] ?? {})
      expect(await call(name, '0x1')).toContain(`"${first?.name}"`)
      const [node] = own
      if (node !== undefined)
        node.behave = (sent) => `{"jsonrpc":"2.0","id":${sent.id},"error":{"code":-32603,"message":"Internal error"}}`
      expect(await call(name, '0x2')).toContain(`"${second?.name}"`)
    }
  })
})
