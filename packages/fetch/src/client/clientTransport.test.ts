import { createTransport } from '@keyrail/core'
import { expect, test } from 'vitest'
import { getClientTransport } from './clientTransport.ts'
import { createClient } from './createClient.ts'

test('clients of one transport share it, and so do the clients from with()', () => {
  const transport = createTransport({ url: 'http://127.0.0.1:1' })
  const client = createClient(transport)
  expect(getClientTransport(client)).toBe(transport)
  expect(getClientTransport(client.with({ timeoutMs: 1 }).with({ retries: 0 }))).toBe(transport)
  expect(getClientTransport(createClient(transport))).toBe(transport)
  expect(getClientTransport(createClient({ url: 'http://127.0.0.1:1' }))).not.toBe(transport)
})

test('any other client is its own owner', () => {
  const other = { with: () => ({}) }
  expect(getClientTransport(other)).toBe(other)
})
