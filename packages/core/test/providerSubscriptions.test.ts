import { createProvider, createTransport, isKeyrailError, webSocket } from '@keyrail/core'
import type { Provider, ProviderMessage } from '@keyrail/core'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { startAnvil } from './startAnvil.ts'

const anvil = await startAnvil()
afterAll(anvil.stop)

let transport: ReturnType<typeof createTransport>
let provider: Provider
let messages: ProviderMessage['data'][]
beforeEach(() => {
  transport = createTransport({ url: anvil.url, webSocket: webSocket() })
  provider = createProvider(transport)
  messages = []
  provider.on('message', (message: ProviderMessage) => messages.push(message.data))
})
afterEach(() => transport.close())

const mine = (blocks: number): Promise<unknown> =>
  provider.request({ method: 'anvil_mine', params: [`0x${blocks.toString(16)}`] })
const numbers = (): number[] => messages.map(({ result }) => Number((result as { readonly number: string }).number))
const getHead = async (): Promise<number> => Number(await provider.request({ method: 'eth_blockNumber' }))

test('eth_subscribe reports every new head once, and the heads of a new branch', async () => {
  const id = await provider.request({ method: 'eth_subscribe', params: ['newHeads'] })
  const head = await getHead()
  await mine(3)
  await expect.poll(numbers).toEqual([head + 1, head + 2, head + 3])
  await provider.request({ method: 'anvil_reorg', params: [2, []] })
  await mine(1)
  await expect.poll(() => numbers().slice(3)).toEqual([head + 2, head + 3, head + 4])
  expect(new Set(messages.map(({ subscription }) => subscription))).toEqual(new Set([id]))
  expect(messages[0]?.result).not.toHaveProperty('transactions')
})

test('logs are reported, and again as removed', async () => {
  const [from] = (await provider.request({ method: 'eth_accounts' })) as string[]
  // Emits an empty log: PUSH0 PUSH0 LOG0.
  const address = `0x${'e1'.repeat(20)}`
  await provider.request({ method: 'anvil_setCode', params: [address, '0x5f5fa0'] })
  await provider.request({ method: 'eth_subscribe', params: ['logs', { address }] })
  await provider.request({ method: 'eth_sendTransaction', params: [{ from, to: address, gas: '0x10000' }] })
  await expect.poll(() => messages.map(({ result }) => (result as { removed: boolean }).removed)).toEqual([false])
  await provider.request({ method: 'anvil_reorg', params: [1, []] })
  await mine(1)
  await expect.poll(() => messages.map(({ result }) => (result as { removed: boolean }).removed)).toEqual([false, true])
})

test('transactions are reported by their hashes, or whole', async () => {
  const [from, to] = (await provider.request({ method: 'eth_accounts' })) as string[]
  const hashes = await provider.request({ method: 'eth_subscribe', params: ['newPendingTransactions'] })
  const whole = await provider.request({ method: 'eth_subscribe', params: ['newPendingTransactions', true] })
  const of = (id: unknown): unknown[] =>
    messages.filter(({ subscription }) => subscription === id).map(({ result }) => result)
  // Each node has its own pool, and what came before the subscription is not reported: send until both have started.
  await expect
    .poll(async () => {
      await provider.request({ method: 'eth_sendTransaction', params: [{ from, to }] })
      return Math.min(of(hashes).length, of(whole).length)
    })
    .toBeGreaterThan(0)
  expect(of(hashes)[0]).toMatch(/^0x[\da-f]{64}$/)
  expect(of(whole)[0]).toMatchObject({ from, to })
})

test('nothing is reported after eth_unsubscribe', async () => {
  const id = await provider.request({ method: 'eth_subscribe', params: ['newHeads'] })
  expect(await provider.request({ method: 'eth_unsubscribe', params: [id] })).toBe(true)
  expect(await provider.request({ method: 'eth_unsubscribe', params: [id] })).toBe(false)
  const other = await provider.request({ method: 'eth_subscribe', params: ['newHeads'] })
  await mine(1)
  await expect.poll(() => messages.map(({ subscription }) => subscription)).toEqual([other])
})

test('an unknown kind is an invalid request', async () => {
  const error: unknown = await provider
    .request({ method: 'eth_subscribe', params: ['newBlocks'] })
    .catch((reason: unknown) => reason)
  expect(isKeyrailError(error, 'invalidRequest')).toBe(true)
  expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('newHeads, logs') as string })
})

test('a failure that is not retryable ends the subscription with a disconnect event', async () => {
  const failures: unknown[] = []
  provider.on('disconnect', (failure: unknown) => failures.push(failure))
  await provider.request({ method: 'eth_subscribe', params: ['newHeads'] })
  transport.close()
  await expect.poll(() => failures).toMatchObject([{ code: 4900 }])
})

test('without webSocket, the method goes to the node', async () => {
  const plain = createTransport({ url: anvil.url, retry: false })
  const request = createProvider(plain).request({ method: 'eth_subscribe', params: ['newHeads'] })
  await expect(request).rejects.toMatchObject({ kind: expect.any(String) as string })
  plain.close()
})

test('a listener that throws does not keep others from being called', async () => {
  const seen: unknown[] = []
  const unhandled: unknown[] = []
  const listeners = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.once('unhandledRejection', (reason) => unhandled.push(reason))
  provider.on('message', () => {
    throw new Error('mine')
  })
  provider.on('message', (message) => seen.push(message))
  await provider.request({ method: 'eth_subscribe', params: ['newHeads'] })
  await mine(1)
  await expect.poll(() => [seen.length, unhandled.length]).toEqual([1, 1])
  for (const listener of listeners) process.on('unhandledRejection', listener)
})
