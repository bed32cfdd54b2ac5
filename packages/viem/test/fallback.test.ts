import { reply, raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer } from '@keyrail/core/test/faultServer.ts'
import { createPublicClient, fallback } from 'viem'
import type { PublicClient } from 'viem'
import { mainnet } from 'viem/chains'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { budget, keyrail } from '../src/index.ts'

let first: FaultServer
let second: FaultServer
beforeEach(async () => {
  first = await startFaultServer(reply('0x1'))
  second = await startFaultServer(reply('0x2'))
})
afterEach(async () => {
  await first.close()
  await second.close()
})

const createClient = (...transports: ReturnType<typeof keyrail>[]): PublicClient =>
  createPublicClient({ chain: mainnet, transport: fallback(transports), cacheTime: 0 }) as PublicClient
const countConnections = ({ seen }: FaultServer): number => new Set(seen.map(({ connection }) => connection)).size

test('while the first fails, the second responds, and the first gets one request for each call', async () => {
  first.script = raw(503, 'down')
  const client = createClient(keyrail({ url: first.url }), keyrail({ url: second.url }))
  for (let call = 1; call <= 3; call++) {
    expect(await client.getGasPrice()).toBe(2n)
    // Keyrail does not retry before viem falls back.
    expect(first.seen).toHaveLength(call)
  }
  first.script = reply('0x1')
  expect(await client.getGasPrice()).toBe(1n)
  expect(second.seen).toHaveLength(3)
})

test('a closed port, a timeout and a wrong key fall back too', async () => {
  const key = `kr_a${'k3Y'.repeat(13)}`
  const gone = await startFaultServer()
  await gone.close()
  expect(await createClient(keyrail({ url: gone.url }), keyrail({ url: second.url })).getGasPrice()).toBe(2n)
  first.script = () => {}
  expect(
    await createClient(keyrail({ url: first.url, timeoutMs: 50 }), keyrail({ url: second.url })).getGasPrice(),
  ).toBe(2n)
  first.script = raw(401, 'no such key')
  const keyed = keyrail({ baseUrl: first.url, apiKey: key })
  expect(await createClient(keyed, keyrail({ url: second.url })).getGasPrice()).toBe(2n)
})

test('viem creates a transport for each call, and connections stay open', async () => {
  const client = createClient(keyrail({ url: first.url }), keyrail({ url: second.url }))
  for (let call = 0; call < 10; call++) expect(await client.getGasPrice()).toBe(1n)
  expect(first.seen).toHaveLength(10)
  expect(countConnections(first)).toBe(1)
  expect(second.seen).toEqual([])
})

test('viem creates a transport for each call, and the budget of a day is counted once', async () => {
  const client = createClient(
    keyrail({ url: first.url, budget: budget({ requestsPerDay: 3 }) }),
    keyrail({ url: second.url }),
  )
  const prices: bigint[] = []
  for (let call = 0; call < 5; call++) prices.push(await client.getGasPrice())
  expect(prices).toEqual([1n, 1n, 1n, 2n, 2n])
  expect(first.seen).toHaveLength(3)
})

test('viem creates a transport for each call, and identical reads in flight share a request', async () => {
  const waiting: (() => void)[] = []
  first.script = (seen, response, socket) => void waiting.push(() => reply('0x1')(seen, response, socket))
  const client = createClient(keyrail({ url: first.url }), keyrail({ url: second.url }))
  const both = Promise.all([client.getGasPrice(), client.getGasPrice()])
  await expect.poll(() => waiting.length).toBe(1)
  waiting[0]?.()
  expect(await both).toEqual([1n, 1n])
  expect(first.seen).toHaveLength(1)
})

test('if all fail, each gets one request from a fallback with retryCount 0', async () => {
  first.script = raw(503, 'down')
  second.script = raw(503, 'down')
  const transport = fallback([keyrail({ url: first.url }), keyrail({ url: second.url })], { retryCount: 0 })
  await expect(createPublicClient({ chain: mainnet, transport }).getGasPrice()).rejects.toThrow('HTTP request failed')
  expect([first.seen.length, second.seen.length]).toEqual([1, 1])
})
