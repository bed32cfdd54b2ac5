import type { UpstreamView } from '@keyrail/gateway'
import { expect, test } from 'vitest'
import { getSlowness } from './getSlowness.ts'

const node = (name: string, latencyMs: number | null, network = 'mainnet'): UpstreamView =>
  ({ network, name, latencyMs }) as UpstreamView

test.each([
  ['twice as slow as the fastest node', [300, 100, 200], 3],
  ['not much slower than the fastest', [190, 100], undefined],
  ['much slower, but fast', [20, 2], undefined],
  ['without a call yet', [null, 100], undefined],
  ['beside nodes without a call yet', [900, null], undefined],
] as const)('a node that is %s', (_, [own, ...others], expected) => {
  const nodes = [node('own', own), ...others.map((ms, at) => node(`other ${at}`, ms))]
  expect(getSlowness(node('own', own), nodes)).toBe(expected)
})

test('is compared with nodes of its own network only', () => {
  const own = node('own', 900)
  expect(getSlowness(own, [own, node('own', 10, 'testnet'), node('fast', 10, 'testnet')])).toBeUndefined()
})
