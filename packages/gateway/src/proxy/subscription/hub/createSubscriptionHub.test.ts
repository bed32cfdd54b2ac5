import { describe, expect, test } from 'vitest'
import { createClient, follow, getSummary, openHub, toLog } from '../../../../test/openHub.ts'

const address = (digit: number): string => `0x${String(digit).repeat(40)}`
const topic = (digit: string): string => `0x${digit.repeat(64)}`

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
    opened.chain.mine([toLog(1, topic('b'), topic('a')), toLog(1, topic('a')), toLog(2, topic('b'), topic('a'))])
    opened.chain.mine([toLog(1, topic('c'), topic('a'), topic('a'))])
    expect(getSummary(client)).toBe('#1 #4')
  })

  test('delivers removed logs newest first, before those of the new branch', () => {
    const opened = openHub()
    const client = createClient()
    follow(opened, client, 'logs', {})
    opened.chain.mine([toLog(1), toLog(2)])
    opened.chain.mine([toLog(3)])
    opened.chain.rollBack(2)
    opened.chain.mine([toLog(4)])
    expect(getSummary(client)).toBe('#1 #2 #3 -#3 -#2 -#1 #4')
  })

  test('in cursor mode has a position after the logs of a block, and at least at every 16th block', () => {
    const opened = openHub()
    const client = createClient()
    follow(opened, client, 'logs', { address: address(1) }, { cursor: null })
    for (let number = 1; number <= 40; number += 1) opened.chain.mine(number === 3 ? [toLog(1), toLog(1)] : [toLog(2)])
    opened.chain.rollBack(39)
    opened.chain.mine([toLog(1)])
    expect(getSummary(client)).toBe('@0 #3 #4 @3 @16 @32 @1 #42 @2')
  })

  test('resumes with the logs of the blocks that were missed', () => {
    const opened = openHub()
    const number = '0x0'
    const hashes = [opened.chain.blocks()[0]?.hash]
    opened.chain.mine([toLog(1)])
    opened.chain.mine([toLog(2)])
    opened.chain.mine([toLog(1), toLog(1)])
    const client = createClient()
    follow(opened, client, 'logs', { address: address(1) }, { cursor: { number, hashes } })
    opened.chain.mine([toLog(1)])
    expect(getSummary(client)).toBe('@0 #1 @1 #3 #4 @3 #5 @4')
  })
})

describe('newPendingTransactions', () => {
  test('delivers hashes, or whole transactions', () => {
    const opened = openHub({
      readTransactions: (hashes, deliver) => {
        for (const hash of hashes.slice(1)) deliver(JSON.stringify({ hash }), () => gotBeforeNext.push(getCount()))
      },
    })
    const [hashes, whole] = [createClient(), createClient()]
    const getCount = (): number => whole.notifications.length
    const gotBeforeNext: number[] = []
    follow(opened, hashes, 'newPendingTransactions')
    follow(opened, whole, 'newPendingTransactions', true)
    opened.sendTransactions(['0x1', '0x2'])
    expect(hashes.notifications.map(({ params }) => params.result)).toEqual(['0x1', '0x2'])
    expect(whole.notifications.map(({ params }) => params.result)).toEqual([{ hash: '0x2' }])
    expect(gotBeforeNext).toEqual([1])
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
