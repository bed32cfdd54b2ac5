import { cache, createTransport } from '@keyrail/core'
import type { Transport } from '@keyrail/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startFaultServer } from '../faultServer.ts'
import type { FaultServer } from '../faultServer.ts'
import { respondWith } from './respondWith.ts'
import { httpClients } from './httpClients.ts'
import { createTinyChain } from './tinyChain.ts'
import type { TinyChain } from './tinyChain.ts'
import { compose, deadline } from '../layers.ts'
import { http } from '../../src/transport/endpoint/http.ts'
import { retry } from '../../src/transport/retry.ts'
import { route } from '../../src/transport/route/route.ts'

let server: FaultServer
let transport: Transport
let chain: TinyChain
beforeEach(async () => {
  server = await startFaultServer()
  chain = createTinyChain(100)
})
afterEach(async () => {
  transport.close()
  await server.close()
})

const block = (tag: string): Promise<{ readonly hash: string; readonly number: string } | null> =>
  transport.request({ method: 'eth_getBlockByNumber', params: [tag, false] }) as never
const head = async (): Promise<number> => Number(await transport.request({ method: 'eth_blockNumber' }))
const balance = async (): Promise<number> =>
  Number(await transport.request({ method: 'eth_getBalance', params: [`0x${'aa'.repeat(20)}`, 'latest'] }))

describe.each(httpClients)('by %s, heads that go back', (_, options) => {
  test('are returned as they are without minBlock', async () => {
    transport = createTransport({ url: server.url, ...options })
    server.script = respondWith(chain.seenInTurnFrom(0, 3, 1))
    expect([await head(), await head(), await head(), await head()]).toEqual([100, 97, 99, 100])
  })

  test('never occur with minBlock, although each request reaches another node', async () => {
    server.script = respondWith(chain.seenInTurnFrom(0, 3, 1, 7))
    transport = compose(
      route([http({ url: server.url }, options)], { minBlock: true }),
      retry({ retries: 20, baseMs: 1, capMs: 1 }),
      deadline(),
    )
    let highest = 0
    for (let turn = 0; turn < 30; turn++) {
      const seen = turn % 2 ? await balance() : await head()
      expect(seen).toBeGreaterThanOrEqual(highest)
      highest = Math.max(highest, seen)
      if (turn % 10 === 9) chain.head++
    }
  })

  test('are waited for with minBlock', async () => {
    let behind = 5
    server.script = (...args) => respondWith(chain.seenFrom(Math.max(0, behind--)))(...args)
    transport = compose(
      route([http({ url: server.url }, options)]),
      retry({ retries: 20, baseMs: 1, capMs: 1 }),
      deadline(),
    )
    const call = { method: 'eth_getBalance', params: [`0x${'aa'.repeat(20)}`, 'latest'] }
    expect(await transport.request(call, { minBlock: 100 })).toBe('0x64')
  })
})

describe.each(httpClients)('by %s, a fork', (_, options) => {
  test('changes results by number, not by hash', async () => {
    server.script = respondWith((call) => chain.seenFrom(0)(call))
    transport = compose(http({ url: server.url }, options), cache(), deadline())
    await block('finalized')
    const before = [await block('0x5f'), await block('0x64'), await block('0x10')].map((one) => one?.hash)
    const byHash = { method: 'eth_getBlockByHash', params: [before[1], false] }
    await transport.request(byHash)
    chain.fork(3)
    const after = [await block('0x5f'), await block('0x64'), await block('0x10')].map((one) => one?.hash)
    // 95 is before the fork, 100 after it; 16 is final and cached.
    expect(after).toEqual([before[0], chain.toHash(100), before[2]])
    expect(after[1]).not.toBe(before[1])
    expect(await transport.request(byHash)).toMatchObject({ hash: before[1] })
    expect(await transport.request({ method: 'eth_getBlockByHash', params: [after[1], false] })).toMatchObject({
      hash: after[1],
    })
  })

  test('with two nodes on two branches is detected by hash in each response', async () => {
    const other = createTinyChain(100)
    other.fork(2)
    let turn = 0
    server.script = respondWith((call) => (turn++ % 2 ? other : chain).seenFrom(0)(call))
    transport = compose(http({ url: server.url }, options), cache(), deadline())
    const hashes = [await block('latest'), await block('latest'), await block('latest')].map((one) => one?.hash)
    expect(hashes).toEqual([chain.toHash(100), other.toHash(100), chain.toHash(100)])
    expect(chain.toHash(98)).toBe(other.toHash(98))
  })
})
