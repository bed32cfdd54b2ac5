import { expect, onTestFinished, test, vi } from 'vitest'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'
import { startTcpProxy } from '../startTcpProxy.ts'
import { startNodeSource } from './startNodeSource.ts'

const startNode = async (): Promise<Anvil & { readonly wsUrl: string }> => {
  const anvil = await startAnvil('--no-mining')
  onTestFinished(anvil.stop)
  return { ...anvil, wsUrl: anvil.url.replace('http', 'ws') }
}
const call = async ({ url }: Anvil, method: string, params: readonly unknown[] = []): Promise<unknown> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await response.json()) as { result: unknown }).result
}
const sendTransactions = async (node: Anvil, count: number): Promise<string[]> => {
  const [from] = (await call(node, 'eth_accounts')) as string[]
  const hashes: string[] = []
  for (let sent = 0; sent < count; sent += 1)
    hashes.push((await call(node, 'eth_sendTransaction', [{ from, to: from, value: '0x1' }])) as string)
  return hashes
}

test('over a WebSocket: each new block wakes, and each pending transaction is delivered once', async () => {
  const node = await startNode()
  const { source, states } = await startNodeSource([
    { url: node.url, wsUrl: node.wsUrl, name: 'one' },
    { url: node.url, wsUrl: node.wsUrl, name: 'two' },
  ])
  const onHead = vi.fn<() => void>()
  const delivered: string[] = []
  source.onHead(onHead)
  source.onPendingTransactions((hashes) => void delivered.push(...hashes))
  await expect.poll(states).toEqual(['connected', 'connected'])
  // Both are subscribed.
  await expect
    .poll(async () => {
      const before = onHead.mock.calls.length
      await call(node, 'evm_mine')
      await new Promise((resolve) => setTimeout(resolve, 50))
      return onHead.mock.calls.length - before
    })
    .toBe(2)
  const hashes = await sendTransactions(node, 20)
  await expect.poll(() => delivered.length).toBe(20)
  await call(node, 'evm_mine')
  expect(delivered).toEqual(hashes)
})

test('without a WebSocket: pending transactions come from a filter, and from another node once its node is gone', async () => {
  const nodes = [await startNode(), await startNode()] as const
  const { source } = await startNodeSource(nodes.map(({ url }) => ({ url })))
  const delivered: string[] = []
  source.onPendingTransactions((hashes) => void delivered.push(...hashes))
  const [first, second] = nodes
  let sent: string[] = []
  await expect
    .poll(async () => {
      sent = await sendTransactions(first, 1)
      await new Promise((resolve) => setTimeout(resolve, 100))
      return delivered.includes(sent[0] ?? '')
    })
    .toBe(true)
  await first.stop()
  await expect
    .poll(async () => {
      sent = await sendTransactions(second, 1)
      await new Promise((resolve) => setTimeout(resolve, 100))
      return delivered.includes(sent[0] ?? '')
    })
    .toBe(true)
  expect(new Set(delivered).size).toBe(delivered.length)
})

test.each(['cut', 'hang'] as const)('after a connection was lost (%s), blocks wake again', async (fault) => {
  const node = await startNode()
  const proxy = await startTcpProxy(Number(new URL(node.url).port))
  onTestFinished(proxy.close)
  const wsUrl = `ws://127.0.0.1:${proxy.port}`
  const { source, states } = await startNodeSource([{ url: node.url, wsUrl }], {
    silenceMs: 200,
    ...(fault === 'hang' ? { timeoutMs: 3_000 } : {}),
  })
  const onHead = vi.fn<() => void>()
  source.onHead(onHead)
  await expect.poll(states).toEqual(['connected'])
  proxy[fault]()
  await expect.poll(states).toEqual(['connected', 'lost'])
  if (fault === 'cut') proxy.fix()
  // A connection that hangs never delivers what it holds.
  else proxy.strand()
  const before = onHead.mock.calls.length
  await expect
    .poll(async () => {
      await call(node, 'evm_mine')
      return onHead.mock.calls.length
    })
    .toBeGreaterThan(before)
  expect(states()).toEqual(['connected', 'lost', 'connected'])
})
