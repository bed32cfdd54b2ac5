import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { scriptedEndpoint, sendDown } from '../../../test/scriptedEndpoint.ts'
import { createHeadQuery } from './headQuery.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('if the request fails, each caller gets its own failure, with its own method', async () => {
  const endpoint = scriptedEndpoint(() => ({ facts: { text: 'down', status: 503 } }))
  const queryHead = createHeadQuery(endpoint.send)
  const calls = ['eth_getBalance', 'eth_call', 'eth_call'].map((method) => sendDown(queryHead, method))
  await vi.advanceTimersByTimeAsync(10)
  expect(endpoint.arrivals.map(({ method }) => method)).toEqual(['eth_blockNumber'])
  expect(calls.map(({ value }) => value)).toMatchObject([
    { kind: 'unavailable', method: 'eth_getBalance', message: expect.stringContaining('eth_blockNumber failed') },
    { kind: 'unavailable', method: 'eth_call' },
    { kind: 'unavailable', method: 'eth_call' },
  ])
  expect(calls[2]?.value).not.toBe(calls[1]?.value)
})
