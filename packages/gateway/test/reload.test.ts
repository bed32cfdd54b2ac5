import { describe, expect, onTestFinished, test } from 'vitest'
import type { TestConfig } from './createTestGateway.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import { chainIds, unreachableUrl, post, startGateway } from './startGateway.ts'

const read = '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}'
const configFor = (url: string): TestConfig => ({
  networks: {
    testnet: { chainId: chainIds.testnet, upstreams: [{ url }] },
    mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: unreachableUrl }] },
  },
})

describe('reload', () => {
  test('sends later calls to the new node, and earlier ones complete at the old one', async () => {
    const [old, fresh] = [await startFakeUpstream(chainIds.testnet), await startFakeUpstream(chainIds.testnet)]
    const started = await startGateway({ testnet: [old.url] })
    onTestFinished(old.stop)
    onTestFinished(fresh.stop)
    onTestFinished(() => started.gateway.close({ graceMs: 0 }))
    let release: (() => void) | undefined
    old.behave = (call, response) => {
      release = () => response.end(result(call, '"old"'))
      return undefined
    }
    fresh.behave = (call, response) => {
      response.end(result(call, '"fresh"'))
      return undefined
    }
    const send = () => post(`${started.url}/testnet/${started.testnetKey}`, read)
    const before = send()
    await expect.poll(() => release).toBeDefined()
    await started.gateway.reload(configFor(fresh.url))
    expect((await send()).text).toContain('"fresh"')
    release?.()
    expect((await before).text).toContain('"old"')
  })

  test('loses no request when it is called repeatedly under load', async () => {
    const nodes = [await startFakeUpstream(chainIds.testnet), await startFakeUpstream(chainIds.testnet)]
    const started = await startGateway({ testnet: [nodes[0]?.url ?? ''] })
    for (const { stop } of nodes) onTestFinished(stop)
    onTestFinished(() => started.gateway.close({ graceMs: 0 }))
    for (const node of nodes)
      node.behave = (call, response) => {
        response.end(result(call, '"0x1"'))
        return undefined
      }
    let ended = false
    const statuses: number[] = []
    const callers = Array.from({ length: 8 }, async () => {
      while (!ended) statuses.push((await post(`${started.url}/testnet/${started.testnetKey}`, read)).status)
    })
    for (let turn = 1; turn <= 10; turn += 1) {
      await started.gateway.reload(configFor(nodes[turn % 2]?.url ?? ''))
    }
    ended = true
    await Promise.all(callers)
    expect(statuses.length).toBeGreaterThan(20)
    expect(new Set(statuses)).toEqual(new Set([200]))
  })
})

describe('fallback', () => {
  test('handles paths outside the networks, without CORS, and can leave a path to the gateway', async () => {
    const node = await startFakeUpstream(chainIds.testnet)
    const started = await startGateway(
      { testnet: [node.url] },
      {
        fallback: ({ url }, response) => {
          if (url !== '/api/me') return false
          response.writeHead(200, { 'content-type': 'text/plain' }).end('you')
          return true
        },
      },
    )
    onTestFinished(node.stop)
    onTestFinished(() => started.gateway.close({ graceMs: 0 }))
    const mine = await fetch(`${started.url}/api/me`)
    expect([mine.status, await mine.text(), mine.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'you',
      null,
    ])
    const options = await fetch(`${started.url}/api/me`, { method: 'OPTIONS' })
    expect([options.status, options.headers.get('access-control-allow-origin')]).toEqual([200, null])
    expect((await post(`${started.url}/api/other`, read)).status).toBe(404)
    expect((await post(`${started.url}/testnet/${started.testnetKey}`, read)).status).toBe(200)
  })
})

test('/readyz lists what is degraded, and stays 200', async () => {
  const nodes = [await startFakeUpstream(chainIds.testnet), await startFakeUpstream(chainIds.mainnet)] as const
  let degraded: string[] = []
  const started = await startGateway({ testnet: [nodes[0].url], mainnet: [nodes[1].url] }, { degraded: () => degraded })
  for (const { stop } of nodes) onTestFinished(stop)
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  const readyz = async () => {
    const response = await fetch(`${started.url}/readyz`)
    return [response.status, await response.json()]
  }
  expect(await readyz()).toEqual([200, { status: 'ok' }])
  degraded = ['redis']
  expect(await readyz()).toEqual([200, { status: 'degraded', degraded: ['redis'] }])
})
