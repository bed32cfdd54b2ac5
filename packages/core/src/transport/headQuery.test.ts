import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { scriptedEndpoint, sendDown } from '../../test/scriptedEndpoint.ts'
import { createHeadQuery } from './headQuery.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('if the request fails, each caller gets its own failure, with its own method', async () => {
  const endpoint = scriptedEndpoint(() => ({ facts: { text: 'down', status: 503 } }))
  const ask = createHeadQuery(endpoint.send)
  const asked = ['eth_getBalance', 'eth_call', 'eth_call'].map((method) => sendDown(ask, method))
  await vi.advanceTimersByTimeAsync(10)
  expect(endpoint.arrivals.map(({ method }) => method)).toEqual(['eth_blockNumber'])
  expect(asked.map(({ value }) => value)).toMatchObject([
    { kind: 'unavailable', method: 'eth_getBalance', message: expect.stringContaining('eth_blockNumber failed') },
    { kind: 'unavailable', method: 'eth_call' },
    { kind: 'unavailable', method: 'eth_call' },
  ])
  expect(asked[2]?.value).not.toBe(asked[1]?.value)
})
