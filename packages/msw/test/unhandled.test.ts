import { setupServer } from 'msw/node'
import { createPublicClient, http } from 'viem'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMockNode, onUnhandledFrame } from '../src/index.ts'

const key = 'kr_a7Hq2mZ9xT4vB6nR1cW8yL3pD5sF0gJkQeUi1a2B'
const node = createMockNode({ baseUrl: 'https://node.example/testnet', apiKey: key })
const server = setupServer(...node.handlers)
const printed: string[] = []
beforeEach(() => {
  server.listen({ onUnhandledFrame })
  for (const method of ['error', 'warn', 'log'] as const)
    vi.spyOn(console, method).mockImplementation((...values: unknown[]) => void printed.push(values.join(' ')))
})
afterEach(() => {
  server.close()
  vi.restoreAllMocks()
})

test.each([
  ['another network', 'eth_blockNumber', `https://node.example/mainnet/v2/${key}`, 'https://node.example/…1a2B'],
  ['another service', 'eth_blockNumber', `https://other.example/?key=${key}`, 'https://other.example/…1a2B'],
])('the key is not printed when an app calls the URL of %s', async (_, method, url, shown) => {
  printed.length = 0
  const client = createPublicClient({ transport: http(url, { retryCount: 0 }) })
  await expect(client.getBlockNumber()).rejects.toThrow('HTTP request failed')
  expect(printed).toEqual([
    `[keyrail/msw] No handler for ${method} to ${shown}. Pass its URL to createMockNode, or correct the URL in the app`,
  ])
})

test('the key is not printed when an app opens a WebSocket to another URL', async () => {
  printed.length = 0
  const socket = new WebSocket(`wss://other.example/v2/${key}`)
  await new Promise((resolve) => socket.addEventListener('error', resolve))
  expect(printed.join('\n')).toContain('No handler for a WebSocket to wss://other.example/…1a2B')
  expect(printed.join('\n')).not.toContain(key)
})
