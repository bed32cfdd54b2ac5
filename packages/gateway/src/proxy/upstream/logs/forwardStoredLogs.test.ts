import { expect, onTestFinished, test, vi } from 'vitest'
import { createFairQueue } from '../../../lib/createFairQueue.ts'
import { allBufferedBytes, createBufferedBytes, dropAllBytes, holdBytes } from '../../../lib/memoryBudget.ts'
import type { CallDone } from '../callResult.ts'
import type { CallScope, SendCall } from '../callScope.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import { createInFlightLogs } from '../store/createInFlightLogs.ts'
import type { NetworkStore } from '../store/networkStore.ts'
import { forwardRead } from './forwardLogs.ts'
import { forwardStoredLogs } from './forwardStoredLogs.ts'

vi.mock('./forwardLogs.ts', () => ({ forwardRead: vi.fn<SendCall>() }))

const address = `0x${'01'.repeat(20)}`
const query = { first: 1, last: 10, addresses: [address], topics: [] }
const params = JSON.stringify([{ address, fromBlock: '0x1', toBlock: '0xa' }])
const call = { method: 'eth_getLogs', params } as ForwardedCall
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** Starts a call whose logs are all missing. @param options.value - What is stored. */
const start = ({ value = '[]', most = Infinity }) => {
  const buffered = createBufferedBytes('requests', { most: allBufferedBytes() + most })
  onTestFinished(() => dropAllBytes(buffered))
  const budget = { left: 10_000, buffered }
  const inFlightLogs = createInFlightLogs()
  const joinLogs = vi.fn<NetworkStore['store']['joinLogs']>()
  const version = {}
  const store = {
    store: { readLogs: async () => ({ value: new Uint8Array(Buffer.from(value)), missing: query }), joinLogs },
    getChain: () => 'testnet 1',
    getVersion: () => version,
    getVerified: () => 100,
    getStorable: () => undefined,
    count: () => {},
    inFlightLogs,
  } as unknown as NetworkStore
  const send = vi
    .mocked(forwardRead)
    .mockReset()
    .mockReturnValue(() => {})
  const done = vi.fn<CallDone>()
  const group = { queue: createFairQueue() }
  const scope = { group, budget, timeoutMs: 5_000, maxResponseBytes: 10_000 } as unknown as CallScope
  return { budget, inFlightLogs, joinLogs, send, done, run: () => forwardStoredLogs(store, call, scope, {}, done) }
}

test.each([
  ['with room for the copies, the result of another call is joined, and they are counted', 2_500, 2_000],
  ['without room for them, a node is asked', 1_500, undefined],
])('%s', async (_, most, expected) => {
  const { budget, inFlightLogs, joinLogs, send, done, run } = start({ most })
  let held: number | undefined
  joinLogs.mockImplementation(async () => {
    held = budget.buffered.held
    return new Uint8Array(Buffer.from('[7]'))
  })
  const sent = inFlightLogs.add(query)
  run()
  await settle()
  sent.end('x'.repeat(1_000))
  await settle()
  expect(held).toBe(expected)
  const isJoined = expected !== undefined
  expect([send.mock.calls.length, done.mock.calls.length]).toEqual(isJoined ? [0, 1] : [1, 0])
  expect(budget.buffered.held).toBe(isJoined ? 3 : 0)
})

test('if what is stored and what a node sent cannot be joined, the budget of the next query has both again', async () => {
  const { budget, joinLogs, send, run } = start({ value: `[${'1'.repeat(98)}]` })
  joinLogs.mockResolvedValue(undefined)
  let before: (number | undefined)[] = []
  send.mockImplementation((_call, _scope, _options, received) => {
    before = [budget.left, budget.buffered.held]
    if (send.mock.calls.length > 1) return () => {}
    const value = Buffer.from('[2]')
    budget.left -= value.length
    holdBytes(budget.buffered, value.length)
    received({ member: 'result', value })
    return () => {}
  })
  run()
  await settle()
  expect(send).toHaveBeenCalledTimes(2)
  expect(before).toEqual([10_000, 0])
})
