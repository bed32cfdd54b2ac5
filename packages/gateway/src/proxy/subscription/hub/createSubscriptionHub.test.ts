import { describe, expect, test } from 'vitest'
import { createClient, openHub } from '../../../../test/openHub.ts'
import type { Notification, OpenHub, RecordingClient } from '../../../../test/openHub.ts'
import { createScriptedChain } from '../../../../test/scriptedChain.ts'
import { createTaskQueue } from './createTaskQueue.ts'

const address = (digit: number | string): string => `0x${String(digit).repeat(40)}`
const topic = (digit: number | string): string => `0x${String(digit).repeat(64)}`
const log = (digit: number, ...topics: readonly string[]) => ({ address: address(digit), topics })

/** A queue that writes to one connection in each turn. */
const oneByOne = () => createTaskQueue({ ms: Infinity, connections: 1 })
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })
const follow = (opened: OpenHub, client: RecordingClient, ...params: readonly unknown[]): string => {
  const result = opened.subscribe(client, ...params)
  if (result === undefined || !('id' in result)) throw new Error(`not subscribed: ${JSON.stringify(result)}`)
  return result.id
}
/** What a client got, in short: `3` is a head, `@3` a position, `#2` a log by its data, `-#2` a removed log. */
const summarize = ({ params: { position, result } }: Notification): string => {
  if (position !== undefined) return `@${Number(position.number)}`
  const { number, data, removed } = result as { number?: string; data?: string; removed?: boolean }
  return data === undefined ? `${Number(number)}` : `${removed === true ? '-' : ''}#${Number(data)}`
}
const getSummary = (client: RecordingClient): string => client.notifications.map(summarize).join(' ')

describe('newHeads', () => {
  test('delivers the header of each new block as geth does', () => {
    const opened = openHub()
    const client = createClient()
    const id = follow(opened, client, 'newHeads')
    expect(id).toMatch(/^0x[0-9a-f]{32}$/)
    opened.chain.mine()
    expect(client.notifications).toEqual([
      {
        jsonrpc: '2.0',
        method: 'eth_subscription',
        params: { subscription: id, result: JSON.parse(opened.chain.blocks()[1]?.header ?? '') as unknown },
      },
    ])
  })

  test('delivers the heads of a new branch from the ancestor up, and nothing for the removed ones', () => {
    const opened = openHub()
    const client = createClient()
    follow(opened, client, 'newHeads')
    for (let block = 0; block < 3; block += 1) opened.chain.mine()
    opened.chain.rollBack(2)
    expect(getSummary(client)).toBe('1 2 3')
    opened.chain.mine()
    opened.chain.mine()
    expect(getSummary(client)).toBe('1 2 3 2 3')
  })

  test('in cursor mode starts with a position, and a reorg is a position', () => {
    const opened = openHub()
    const client = createClient()
    const id = follow(opened, client, 'newHeads', { cursor: null })
    expect(client.notifications).toEqual([
      {
        jsonrpc: '2.0',
        method: 'eth_subscription',
        params: { subscription: id, position: { number: '0x0', hash: opened.chain.blocks()[0]?.hash } },
      },
    ])
    for (let block = 0; block < 3; block += 1) opened.chain.mine()
    opened.chain.rollBack(2)
    opened.chain.mine()
    expect(getSummary(client)).toBe('@0 1 2 3 @1 2')
  })

  test('resumes from the newest common block', () => {
    const opened = openHub()
    for (let block = 0; block < 5; block += 1) opened.chain.mine()
    const hashes = [5, 4, 3].map((number) => opened.chain.blocks()[number]?.hash)
    opened.chain.rollBack(2)
    opened.chain.mine()
    opened.chain.mine()
    const client = createClient()
    follow(opened, client, 'newHeads', { cursor: { number: '0x5', hashes } })
    expect(getSummary(client)).toBe('@3 4 5')
  })

  test('rejects a cursor without a known block', () => {
    const opened = openHub()
    const result = opened.subscribe(createClient(), 'newHeads', { cursor: { number: '0x5', hashes: [topic('f')] } })
    expect(result).toMatchObject({ code: -32001, message: expect.stringMatching(/^The cursor is too old: /) as string })
    expect(opened.hub.counts().newHeads).toBe(0)
  })
})

describe('logs', () => {
  test('delivers the logs that match', () => {
    const opened = openHub()
    const client = createClient()
    follow(opened, client, 'logs', { address: address(1), topics: [null, topic('a')] })
    opened.chain.mine([log(1, topic('b'), topic('a')), log(1, topic('a')), log(2, topic('b'), topic('a'))])
    opened.chain.mine([log(1, topic('c'), topic('a'), topic('a'))])
    expect(getSummary(client)).toBe('#1 #4')
  })

  test('delivers removed logs newest first, before those of the new branch', () => {
    const opened = openHub()
    const client = createClient()
    follow(opened, client, 'logs', {})
    opened.chain.mine([log(1), log(2)])
    opened.chain.mine([log(3)])
    opened.chain.rollBack(2)
    opened.chain.mine([log(4)])
    expect(getSummary(client)).toBe('#1 #2 #3 -#3 -#2 -#1 #4')
  })

  test('in cursor mode has a position after the logs of a block, and at least at every 16th block', () => {
    const opened = openHub()
    const client = createClient()
    follow(opened, client, 'logs', { address: address(1) }, { cursor: null })
    for (let number = 1; number <= 40; number += 1) opened.chain.mine(number === 3 ? [log(1), log(1)] : [log(2)])
    opened.chain.rollBack(39)
    opened.chain.mine([log(1)])
    expect(getSummary(client)).toBe('@0 #3 #4 @3 @16 @32 @1 #42 @2')
  })

  test('resumes with the logs of the blocks that were missed', () => {
    const opened = openHub()
    const number = '0x0'
    const hashes = [opened.chain.blocks()[0]?.hash]
    opened.chain.mine([log(1)])
    opened.chain.mine([log(2)])
    opened.chain.mine([log(1), log(1)])
    const client = createClient()
    follow(opened, client, 'logs', { address: address(1) }, { cursor: { number, hashes } })
    opened.chain.mine([log(1)])
    expect(getSummary(client)).toBe('@0 #1 @1 #3 #4 @3 #5 @4')
  })
})

describe('newPendingTransactions', () => {
  test('delivers hashes, or whole transactions', () => {
    const opened = openHub({
      readTransactions: (hashes, done) => done(hashes.slice(1).map((hash) => JSON.stringify({ hash }))),
    })
    const [hashes, whole] = [createClient(), createClient()]
    follow(opened, hashes, 'newPendingTransactions')
    follow(opened, whole, 'newPendingTransactions', true)
    opened.sendTransactions(['0x1', '0x2'])
    expect(hashes.notifications.map(({ params }) => params.result)).toEqual(['0x1', '0x2'])
    expect(whole.notifications.map(({ params }) => params.result)).toEqual([{ hash: '0x2' }])
  })

  test('reads whole transactions only if anyone wants them', () => {
    let reads = 0
    const opened = openHub({
      readTransactions: () => {
        reads += 1
      },
    })
    follow(opened, createClient(), 'newPendingTransactions')
    opened.sendTransactions(['0x1'])
    expect(reads).toBe(0)
  })

  test('listens to the nodes as long as there are subscriptions, and does not follow the chain', () => {
    const opened = openHub()
    const client = createClient()
    const id = follow(opened, client, 'newPendingTransactions')
    expect(opened.listeners()).toBe(1)
    expect(opened.chain.isStarted()).toBe(false)
    opened.hub.unsubscribe(client, id)
    expect(opened.listeners()).toBe(0)
  })
})

test('syncing delivers the status as geth does', () => {
  const opened = openHub()
  const client = createClient()
  follow(opened, client, 'syncing')
  opened.sendSyncing('{"currentBlock":"0x1"}')
  opened.sendSyncing('false')
  expect(client.notifications.map(({ params }) => params.result)).toEqual([
    { syncing: true, status: { currentBlock: '0x1' } },
    false,
  ])
})

describe('ids', () => {
  test('differ on a connection, also from those of ended subscriptions', () => {
    const opened = openHub()
    const client = createClient()
    const ids = Array.from({ length: 20 }, () => {
      const id = follow(opened, client, 'newHeads')
      expect(opened.hub.unsubscribe(client, id)).toBe(true)
      return id
    })
    expect(new Set(ids).size).toBe(20)
  })

  test('are equal on connections that subscribe alike, which share their frames', () => {
    const opened = openHub()
    const [one, other] = [createClient(), createClient()]
    expect(follow(opened, one, 'newHeads')).toBe(follow(opened, other, 'newHeads'))
    opened.chain.mine()
    expect(one.buffers).toHaveLength(1)
    expect(one.buffers[0]).toBe(other.buffers[0])
  })

  test('depend on the secret, the network and the mode', () => {
    const ids = [openHub(), openHub({ secret: 'other' }), openHub({ network: 'mainnet' })].map((opened) =>
      follow(opened, createClient(), 'newHeads'),
    )
    const inCursorMode = follow(openHub(), createClient(), 'newHeads', { cursor: null })
    expect(new Set([...ids, inCursorMode]).size).toBe(4)
  })
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
    opened.chain.mine([log(1)])
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
    opened.chain.mine([log(1)])
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

  test('a connection that gets more than maxNotificationsPerBlock fails and gets nothing of the block', () => {
    const opened = openHub()
    const [flooded, other] = [createClient(), createClient()]
    follow(opened, flooded, 'logs', {})
    follow(opened, flooded, 'newHeads')
    follow(opened, other, 'logs', {})
    opened.chain.mine(Array.from({ length: 49 }, () => log(1)))
    expect(flooded.faults).toEqual([])
    opened.chain.mine(Array.from({ length: 50 }, () => log(1)))
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
    for (let block = 0; block < 3; block += 1) opened.chain.mine(Array.from({ length: 40 }, () => log(1)))
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
    const ids = [follow(opened, client, 'logs', {}), follow(opened, client, 'logs', { address: address(1) })]
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
    opened.chain.mine([log(1)])
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
  opened.chain.mine([log(1), log(1)])
  opened.sendTransactions(['0x1', '0x2'])
  opened.sendSyncing('false')
  expect(Object.fromEntries(client.counts)).toEqual({ newHeads: 1, logs: 4, newPendingTransactions: 2, syncing: 1 })
})
