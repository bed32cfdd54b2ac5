import { createMockNode, onUnhandledFrame } from '@keyrail/msw'
import { setupServer } from 'msw/node'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { POST } from '../app/rpc/route'

const endpoint = { baseUrl: 'https://node.example/testnet', apiKey: 'kr_secret' }
process.env.KEYRAIL_BASE_URL = endpoint.baseUrl
process.env.KEYRAIL_API_KEY = endpoint.apiKey
process.env.KEYRAIL_CHAIN_ID = '1952805748'
const node = createMockNode({ ...endpoint, chainId: 1_952_805_748 })
const server = setupServer(...node.handlers)

beforeAll(() => server.listen({ onUnhandledFrame }))
afterAll(() => server.close())
beforeEach(() => node.reset())

const call = async (method: string, origin = 'http://localhost:3000', url = 'http://localhost:3000/rpc') => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
  const response = await POST(new Request(url, { method: 'POST', headers: { origin }, body }))
  return { status: response.status, text: await response.text() }
}

test('sends an allowed call to the node', async () => {
  node.mine(2)
  const { status, text } = await call('eth_blockNumber')
  expect([status, JSON.parse(text)]).toEqual([200, { jsonrpc: '2.0', id: 1, result: '0x2' }])
})

test('responds to its own pages on any host and port', async () => {
  for (const origin of ['http://127.0.0.1:3001', 'https://shop.example'])
    expect((await call('eth_blockNumber', origin, `${origin}/rpc`)).status).toBe(200)
})

test('names what is missing in .env.local', async () => {
  delete process.env.KEYRAIL_API_KEY
  const { status, text } = await call('eth_blockNumber')
  process.env.KEYRAIL_API_KEY = endpoint.apiKey
  expect([status, text]).toEqual([500, expect.stringContaining('Set KEYRAIL_API_KEY in .env.local')])
})

test('rejects other methods and other origins', async () => {
  expect((await call('eth_getLogs')).text).toContain('not allowed')
  expect((await call('eth_blockNumber', 'https://other.example')).status).toBe(403)
  expect(node.calls()).toEqual([])
})

test('a failure does not contain the key or the URL', async () => {
  node.fail('auth')
  const { status, text } = await call('eth_blockNumber')
  expect(status).toBe(502)
  expect(text).not.toContain(endpoint.apiKey)
  expect(text).not.toContain('node.example')
})
