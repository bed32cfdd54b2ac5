import { reply, raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { FallbackProvider, JsonRpcProvider } from 'ethers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { failover, KeyrailProvider } from '../src/index.ts'

const account = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const open: { destroy(): void }[] = []
let dead: FaultServer
let live: FaultServer
beforeEach(async () => {
  dead = await startFaultServer()
  live = await startFaultServer(reply('0x2'))
})
afterEach(async () => {
  for (const provider of open.splice(0).reverse()) provider.destroy()
  await dead.close()
  await live.close()
})

const member = (url: string, options: object = {}): KeyrailProvider => {
  const provider = new KeyrailProvider({ url, chainId: 1, ...options })
  open.push(provider)
  return provider
}
const createFallback = (...members: KeyrailProvider[]): FallbackProvider => {
  const provider = new FallbackProvider(members, 1, { quorum: 1, cacheTimeout: -1 })
  open.push(provider)
  return provider
}
const methods = ({ seen }: FaultServer): string[] => seen.map(({ json }) => json.method)

const faults: readonly (readonly [name: string, script: Script])[] = [
  ['drops connections', (_, __, socket) => void socket.destroy()],
  ['responds with 503', raw(503, 'down')],
  ['responds with 502 and a page', raw(502, '<html>Bad Gateway</html>')],
  ['responds with 429', raw(429, 'slow down')],
  ['never responds', () => {}],
]

describe('FallbackProvider with a dead first member', () => {
  // At its first call, FallbackProvider waits until every member has returned a block number or failed for good.
  test.each(faults)('sends one request to a member with retry: false that %s', async (_, script) => {
    dead.script = script
    const provider = createFallback(
      member(dead.url, { retry: false, timeoutMs: 200 }),
      member(live.url, { retry: false, timeoutMs: 10_000 }),
    )
    expect(await provider.getBlockNumber()).toBe(2)
    expect(await provider.getBalance(account)).toBe(2n)
    expect(methods(dead)).toEqual(['eth_blockNumber'])
  })

  test('waits for all retries of a member that has them', async () => {
    dead.script = raw(503, 'down')
    const provider = createFallback(member(dead.url, { retry: { retries: 3, baseMs: 1 } }), member(live.url))
    expect(await provider.getBlockNumber()).toBe(2)
    expect(methods(dead)).toEqual(Array.from({ length: 4 }, () => 'eth_blockNumber'))
  })

  test('uses the second if the port of the first is closed', async () => {
    await dead.close()
    const provider = createFallback(member(dead.url, { retry: false }), member(live.url, { retry: false }))
    expect(await provider.getBlockNumber()).toBe(2)
    expect(await provider.getBalance(account)).toBe(2n)
    dead = await startFaultServer()
  })

  test('can return the failure of a member that worked before, with any provider', async () => {
    for (const make of [
      (url: string) => member(url, { retry: false }),
      (url: string) => new JsonRpcProvider(url, 1, { staticNetwork: true, cacheTimeout: -1 }),
    ]) {
      dead.script = reply('0x2')
      const members = [make(dead.url), make(live.url)] as const
      const provider = new FallbackProvider(members as never, 1, { quorum: 1, cacheTimeout: -1 })
      open.push(provider, ...members)
      expect(await provider.getBlockNumber()).toBe(2)
      dead.script = raw(500, 'down')
      const results = await Promise.allSettled(Array.from({ length: 20 }, () => provider.getBalance(account)))
      expect(results.map(({ status }) => status)).toContain('rejected')
    }
  })
})

test('one KeyrailProvider with several endpoints uses the second when the first fails later', async () => {
  dead.script = reply('0x2')
  const provider = new KeyrailProvider({ endpoints: failover([{ url: dead.url }, { url: live.url }], { chainId: 1 }) })
  open.push(provider)
  expect(await provider.getBlockNumber()).toBe(2)
  dead.script = raw(503, 'down')
  for (let call = 0; call < 5; call++) expect(await provider.getBalance(account)).toBe(2n)
})

test('one KeyrailProvider with several endpoints sends a dead one a single request, even with retries', async () => {
  dead.script = raw(503, 'down')
  const provider = new KeyrailProvider({ endpoints: failover([{ url: dead.url }, { url: live.url }], { chainId: 1 }) })
  open.push(provider)
  expect(await provider.getBlockNumber()).toBe(2)
  expect(methods(dead)).toEqual(['eth_blockNumber'])
  expect(methods(live)).toEqual(['eth_blockNumber'])
})
