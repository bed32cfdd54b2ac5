import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createClient } from '@keyrail/fetch'
import { createMockNode, onUnhandledFrame } from '@keyrail/msw'
import { setupServer } from 'msw/node'
import { sumTransfers, transferTopic } from '../src/sumTransfers.ts'

const endpoint = { baseUrl: 'https://node.example/testnet', apiKey: 'kr_any' }
const token = '0x00000000000000000000000000000000000000aa'
const node = createMockNode(endpoint)
/** Pads a value to 32 bytes. */
const pad = (hex: string): `0x${string}` => `0x${hex.slice(2).padStart(64, '0')}`
const server = setupServer(...node.handlers)

before(() => server.listen({ onUnhandledFrame }))
after(() => server.close())
beforeEach(() => node.reset())

test('sums the transfers, also if a call is throttled', async () => {
  const topics: `0x${string}`[] = [transferTopic, ...node.accounts.slice(0, 2).map(({ address }) => pad(address))]
  for (const amount of ['0x2', '0x3']) node.emit({ address: token, topics, data: pad(amount) })
  node.fail('throttled', { method: 'eth_getLogs' })
  assert.deepEqual(await sumTransfers(createClient(endpoint), token), { transfers: 2, amount: 5n })
})
