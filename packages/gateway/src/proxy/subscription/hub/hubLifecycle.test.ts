import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createBufferedBytes,
  createClient,
  createTaskQueue,
  follow,
  getSummary,
  openHub,
  toLog,
} from '../../../../test/openHub.ts'
import { allBufferedBytes } from '../../../lib/memoryBudget.ts'
import { createScriptedChain } from '../../../../test/scriptedChain.ts'

/** A queue that writes to one connection in each turn. */
const oneByOne = () => createTaskQueue({ ms: Infinity, writes: 1, schedule: setImmediate })
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

test('a slice of a block ends earlier if its notifications are large', async () => {
  const opened = openHub({ queue: createTaskQueue({ ms: Infinity, writes: 8, schedule: setImmediate }) })
  const clients = Array.from({ length: 8 }, createClient)
  for (const client of clients) for (let count = 0; count < 5; count += 1) follow(opened, client, 'logs', {})
  await turn()
  opened.chain.mine(Array.from({ length: 10 }, (_, index) => toLog(index)))
  const served = clients.filter(({ notifications }) => notifications.length === 50)
  const bytes = served[0]?.buffers.reduce((sum, { length }) => sum + length, 0) ?? 0
  expect(served.length).toBe(Math.ceil(8 / (1 + bytes / 16_384)))
  expect(served.length).toBeLessThan(8)
})

describe('a subscription that ends', () => {
  test('delivers nothing more, while others go on', () => {
    const opened = openHub()
    const [client, other] = [createClient(), createClient()]
    const id = follow(opened, client, 'newHeads')
    follow(opened, client, 'logs', {})
    follow(opened, other, 'newHeads')
    expect(opened.hub.counts()).toEqual({ newHeads: 2, logs: 1, newPendingTransactions: 0, syncing: 0 })
    expect(opened.hub.unsubscribe(client, id)).toBe(true)
    expect(opened.hub.unsubscribe(client, id)).toBe(false)
    expect(opened.hub.unsubscribe(createClient(), id)).toBe(false)
    expect(opened.hub.counts()).toEqual({ newHeads: 1, logs: 1, newPendingTransactions: 0, syncing: 0 })
    opened.chain.mine([toLog(1)])
    expect(getSummary(client)).toBe('#1')
    expect(getSummary(other)).toBe('1')
  })

  test('between two slices of a block gets nothing of it', async () => {
    const opened = openHub({ queue: oneByOne() })
    const clients = [createClient(), createClient(), createClient(), createClient()] as const
    const ids = clients.map((client) => follow(opened, client, 'newHeads'))
    await turn()
    opened.chain.mine()
    expect(clients.map(getSummary)).toEqual(['1', '', '', ''])
    opened.hub.unsubscribe(clients[2], ids[2] ?? '')
    opened.hub.leave(clients[3])
    await turn()
    await turn()
    await turn()
    expect(clients.map(getSummary)).toEqual(['1', '1', '', ''])
  })

  test('that starts between two slices gets exactly what comes after them', async () => {
    const opened = openHub({ queue: oneByOne() })
    const [one, two, late] = [createClient(), createClient(), createClient()]
    follow(opened, one, 'newHeads')
    follow(opened, two, 'newHeads')
    opened.chain.mine()
    opened.subscribe(late, 'newHeads', { cursor: null })
    opened.chain.mine()
    for (let slice = 0; slice < 10; slice += 1) await turn()
    expect([one, two, late].map(getSummary)).toEqual(['1 2', '1 2', '@1 2'])
  })

  test('while the follower looks for its start leaves nothing behind', () => {
    const opened = openHub({ chain: createScriptedChain({ isSlow: true }) })
    const client = createClient()
    const results: unknown[] = []
    opened.hub.subscribe(client, '["logs",{}]', (result) => results.push(result))
    opened.hub.leave(client)
    expect(results).toEqual([])
    opened.chain.respond()
    expect(results).toEqual([expect.objectContaining({ reason: 'draining' })])
    expect(opened.hub.counts().logs).toBe(0)
    expect(opened.chain.hasLogs()).toBe(false)
    opened.chain.mine([toLog(1)])
    expect(client.notifications).toEqual([])
  })
})

describe('limits', () => {
  test('a connection has at most maxSubscriptions, including those that start', () => {
    const opened = openHub({ chain: createScriptedChain({ isSlow: true }) })
    const client = createClient()
    for (let count = 0; count < 5; count += 1) expect(opened.subscribe(client, 'newHeads')).toBeUndefined()
    opened.chain.respond()
    expect(opened.subscribe(client, 'syncing')).toMatchObject({
      code: -32602,
      message: expect.stringContaining('already has 5 subscriptions') as string,
    })
    opened.chain.respond('unavailable')
    expect(opened.subscribe(client, 'syncing')).toHaveProperty('id')
    expect(opened.subscribe(createClient(), 'syncing')).toHaveProperty('id')
  })

  test.each([
    ['a connection', { process: Infinity, ownMost: 4_000 }, { code: -32602, data: { maxBufferedBytes: 4_000 } }],
    ['the process', { process: 4_000, ownMost: 8_000 }, { code: -32603, reason: 'upstream_busy' }],
  ])('the memory of %s is limited, and only for that of the process a later attempt helps', (_, limit, rejection) => {
    const opened = openHub()
    const bounds = { most: allBufferedBytes() + limit.process, ownMost: limit.ownMost }
    const client = { ...createClient(), memory: createBufferedBytes('subscriptions', bounds) }
    onTestFinished(() => opened.hub.close())
    const id = follow(opened, client, 'newHeads')
    follow(opened, client, 'syncing')
    const rejected = opened.subscribe(client, 'newPendingTransactions')
    expect(rejected).toMatchObject(rejection)
    expect(rejected).toHaveProperty('message', expect.stringContaining('eth_unsubscribe'))
    expect(JSON.stringify(rejected).includes('try again later')).toBe(limit.process === 4_000)
    opened.hub.unsubscribe(client, id)
    expect(opened.subscribe(client, 'newPendingTransactions')).toHaveProperty('id')
  })

  test('a connection that gets more than maxNotificationsPerBlock fails and gets nothing of the block', () => {
    const opened = openHub()
    const [flooded, other] = [createClient(), createClient()]
    follow(opened, flooded, 'logs', {})
    follow(opened, flooded, 'newHeads')
    follow(opened, other, 'logs', {})
    opened.chain.mine(Array.from({ length: 49 }, () => toLog(1)))
    expect(flooded.faults).toEqual([])
    opened.chain.mine(Array.from({ length: 50 }, () => toLog(1)))
    expect(flooded.faults).toEqual(['tooManyNotifications'])
    expect(flooded.notifications).toHaveLength(50)
    expect(other.faults).toEqual([])
    expect(other.notifications).toHaveLength(99)
    expect(opened.hub.counts()).toMatchObject({ newHeads: 0, logs: 1 })
    expect(opened.subscribe(flooded, 'newHeads')).toMatchObject({ reason: 'draining' })
  })

  test('counts the logs of each removed block by themselves', () => {
    const opened = openHub()
    const client = createClient()
    follow(opened, client, 'logs', {})
    for (let block = 0; block < 3; block += 1) opened.chain.mine(Array.from({ length: 40 }, () => toLog(1)))
    opened.chain.rollBack(3)
    expect(client.faults).toEqual([])
    expect(client.notifications).toHaveLength(240)
  })

  test('invalid params are rejected before anything starts', () => {
    const opened = openHub()
    expect(opened.subscribe(createClient(), 'heads')).toMatchObject({ code: -32602 })
    expect(opened.chain.isStarted()).toBe(false)
  })
})

describe('the follower', () => {
  test('reads logs only while a subscription needs them', () => {
    const opened = openHub()
    const client = createClient()
    follow(opened, client, 'newHeads')
    expect(opened.chain.hasLogs()).toBe(false)
    const ids = [follow(opened, client, 'logs', {}), follow(opened, client, 'logs', { address: toLog(1).address })]
    expect(opened.chain.hasLogs()).toBe(true)
    opened.hub.unsubscribe(client, ids[0] ?? '')
    expect(opened.chain.hasLogs()).toBe(true)
    opened.hub.unsubscribe(client, ids[1] ?? '')
    expect(opened.chain.hasLogs()).toBe(false)
  })

  test('that finds no node in time rejects the subscription', () => {
    const opened = openHub({ chain: createScriptedChain({ isSlow: true }) })
    const results: unknown[] = []
    opened.hub.subscribe(createClient(), '["newHeads"]', (result) => results.push(result))
    opened.chain.respond('unavailable')
    expect(results).toEqual([expect.objectContaining({ reason: 'no_upstream', code: -32603 })])
  })

  test('that cannot continue ends the connections that follow the chain, after what it delivered before', async () => {
    const opened = openHub({ queue: oneByOne() })
    const [heads, logs, syncing] = [createClient(), createClient(), createClient()]
    follow(opened, heads, 'newHeads')
    follow(opened, logs, 'logs', {})
    follow(opened, syncing, 'syncing')
    opened.chain.mine([toLog(1)])
    opened.hub.fail('reorgTooDeep')
    for (let slice = 0; slice < 10; slice += 1) await turn()
    expect([heads, logs].map(getSummary)).toEqual(['1', '#1'])
    expect([heads, logs, syncing].map(({ faults }) => faults)).toEqual([['reorgTooDeep'], ['reorgTooDeep'], []])
    expect(opened.hub.counts()).toEqual({ newHeads: 0, logs: 0, newPendingTransactions: 0, syncing: 1 })
  })
})

test('a hub that closes rejects subscriptions that start, and later ones', () => {
  const opened = openHub({ chain: createScriptedChain({ isSlow: true }) })
  const [client, starting] = [createClient(), createClient()]
  const results: unknown[] = []
  opened.subscribe(client, 'newHeads')
  opened.chain.respond()
  follow(opened, client, 'syncing')
  opened.hub.subscribe(starting, '["newHeads"]', (result) => results.push(result))
  opened.hub.close()
  expect(results).toEqual([expect.objectContaining({ reason: 'draining' })])
  expect(opened.hub.counts()).toEqual({ newHeads: 0, logs: 0, newPendingTransactions: 0, syncing: 0 })
  expect(opened.chain.isStarted()).toBe(false)
  expect(opened.listeners()).toBe(0)
  expect(opened.subscribe(client, 'newHeads')).toMatchObject({ reason: 'draining' })
})

test('each delivery says how many notifications of which kind it has', () => {
  const opened = openHub()
  const client = createClient()
  for (const params of [['newHeads'], ['logs', {}, { cursor: null }], ['newPendingTransactions'], ['syncing']])
    follow(opened, client, ...params)
  opened.chain.mine([toLog(1), toLog(1)])
  opened.sendTransactions(['0x1', '0x2'])
  opened.sendSyncing('false')
  expect(Object.fromEntries(client.counts)).toEqual({ newHeads: 1, logs: 4, newPendingTransactions: 2, syncing: 1 })
})
