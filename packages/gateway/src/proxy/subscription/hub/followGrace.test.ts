import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createClient, openHub } from '../../../../test/openHub.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('the chain is followed for a minute after its last subscription', () => {
  const opened = openHub()
  const [first, second] = [createClient(), createClient()]
  opened.subscribe(first, 'newHeads')
  opened.hub.leave(first)
  vi.advanceTimersByTime(59_999)
  expect(opened.chain.isStarted()).toBe(true)
  opened.subscribe(second, 'newHeads')
  vi.advanceTimersByTime(60_000)
  expect(opened.chain.isStarted()).toBe(true)
  opened.hub.leave(second)
  vi.advanceTimersByTime(60_000)
  expect(opened.chain.isStarted()).toBe(false)
})
