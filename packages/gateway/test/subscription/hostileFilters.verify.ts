import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { createClient, createTaskQueue, openHub } from '../openHub.ts'
import type { OpenHub, RecordingClient } from '../openHub.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const megabyte = 1024 * 1024
const toHex = (value: number, digits: number): string => `0x${value.toString(16).padStart(digits, '0')}`
let last = 0
const take = (count: number, digits: number): readonly string[] =>
  Array.from({ length: count }, () => toHex((last += 1), digits))

/** A filter with 8 addresses and 8, 4, 4 and 2 topics, like those that used 370 kB each. */
const createWideFilter = () => ({
  address: take(8, 40),
  topics: [take(8, 64), take(4, 64), take(4, 64), take(2, 64)],
})

const limits = {
  maxSubscriptions: 1_000,
  maxAddresses: 1_000,
  maxTopics: 1_000,
  maxNotificationsPerBlock: 20_000,
  fullTransactions: true,
}
/** Hubs stay in memory until all tests are done: what the collector frees later would be missing in the measurement of another test. */
const hubs: OpenHub[] = []
const open = (options: Parameters<typeof openHub>[0] = {}): OpenHub => {
  const hub = openHub({ limits, ...options })
  hubs.push(hub)
  return hub
}
const createClients = (count: number): readonly RecordingClient[] => Array.from({ length: count }, createClient)
const getHeap = (): number => {
  // What only a WeakRef held goes with the second one.
  collect()
  collect()
  return getHeapStatistics().used_heap_size
}
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

const subscribeAll = async (
  opened: OpenHub,
  clients: readonly RecordingClient[],
  createFilter: () => object,
): Promise<void> => {
  for (const client of clients) {
    for (let count = 0; count < limits.maxSubscriptions; count += 1)
      opened.hub.subscribe(client, JSON.stringify(['logs', createFilter()]), (result) => {
        if ('reason' in result) throw new Error(result.message)
      })
    await turn()
  }
  await expect.poll(() => opened.hub.counts().logs).toBe(clients.length * limits.maxSubscriptions)
}

describe('100,000 subscriptions to logs', () => {
  test('with 26 values each take at most 450 MB, which the memory budget counts', async () => {
    const before = getHeap()
    const opened = open({ queue: createTaskQueue() })
    const clients = createClients(100)
    await subscribeAll(opened, clients, createWideFilter)
    const used = getHeap() - before
    const counted = clients.reduce((sum, { memory }) => sum + memory.held, 0)
    expect(used).toBeLessThan(450 * megabyte)
    expect(counted).toBeLessThan(450 * megabyte)
    expect(used / counted).toBeLessThan(1)
    for (const client of clients) opened.hub.leave(client)
    await expect.poll(() => opened.hub.counts().logs).toBe(0)
    expect(clients.every(({ memory }) => memory.held === 0)).toBe(true)
  })
})

test('a block of 400 logs for 5,000 filters is counted before its notifications exist', async () => {
  const opened = open({ queue: createTaskQueue() })
  const clients = createClients(5)
  const address = toHex(1, 40)
  // Each filter matches, and is another one.
  await subscribeAll(opened, clients, () => ({ address: [address, ...take(1, 40)] }))
  const before = getHeap()
  let most = 0
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 1)
  const rss = process.memoryUsage().rss
  opened.chain.mine(Array.from({ length: 400 }, () => ({ address, topics: take(4, 64) })))
  await expect.poll(() => clients.every(({ faults }) => faults.length > 0)).toBe(true)
  clearInterval(watch)
  expect(clients.map(({ faults }) => faults)).toEqual(clients.map(() => ['tooManyNotifications']))
  expect(clients.map(({ notifications }) => notifications)).toEqual(clients.map(() => []))
  expect(most - rss).toBeLessThan(100 * megabyte)
  expect(getHeap() - before).toBeLessThan(20 * megabyte)
})

test.each([
  ['addresses', () => ({ address: take(1_000, 40) })],
  ['addresses and one topic', () => ({ address: take(1_000, 40), topics: [take(1, 64)] })],
  ['topics', () => ({ topics: [take(1_000, 64)] })],
])('filters with 1,000 %s take no more memory than is counted for them, and not much less', async (_, createFilter) => {
  const before = getHeap()
  const opened = open()
  const client = createClient()
  for (let count = 0; count < 100; count += 1) opened.subscribe(client, 'logs', createFilter())
  await turn()
  const used = getHeap() - before
  expect(opened.hub.counts().logs).toBe(100)
  expect(used / client.memory.held).toBeLessThan(1)
  expect(used / client.memory.held).toBeGreaterThan(0.7)
})
