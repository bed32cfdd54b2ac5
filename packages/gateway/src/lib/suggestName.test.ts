import { afterEach, expect, test, vi } from 'vitest'
import { suggestName } from './suggestName.ts'

afterEach(() => void vi.useRealTimers())

const methods = ['eth_blockNumber', 'eth_getBlockByNumber', 'eth_getLogs', 'eth_call']

test.each([
  ['eth_getBlockByNumer', 'eth_getBlockByNumber'],
  ['eth_blocknumber', 'eth_blockNumber'],
  ['eth_getLog', 'eth_getLogs'],
  ['eth_call', undefined],
  ['net_nothing', undefined],
  ['x'.repeat(1_000_000), undefined],
])('for %.40s it suggests %s', (name, nearest) => {
  vi.useFakeTimers()
  expect(suggestName(name, methods)).toBe(nearest)
})

test('a flood of unknown names uses a bounded share of the CPU', () => {
  vi.useFakeTimers()
  vi.advanceTimersByTime(5_000)
  const suggested = Array.from({ length: 1_000 }, () => suggestName('eth_getLog', methods)).filter(Boolean)
  expect(suggested).toHaveLength(100)
  vi.advanceTimersByTime(1_000)
  expect(suggestName('eth_getLog', methods)).toBe('eth_getLogs')
})
