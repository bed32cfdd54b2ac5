import type { Hex } from '@keyrail/core'
import { setupServer } from 'msw/node'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMockNode } from '../src/index.ts'
import type { MockNode, ProviderName } from '../src/index.ts'

const baseUrl = 'https://node.example/testnet'
const apiKey = 'kr_a00000000000000000000000000000000'
const token = '0x00000000000000000000000000000000000000aa'
const topic: Hex = `0x${'11'.repeat(32)}`

interface Message {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly params?: { readonly subscription: string; readonly result?: unknown; readonly position?: unknown }
}

/** A client that keeps what it receives. */
const connect = async (url = `wss://node.example/testnet/v2/${apiKey}`) => {
  const socket = new WebSocket(url)
  const messages: Message[] = []
  const waiting = new Map<number, (message: Message) => void>()
  const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve))
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(data as string) as Message
    if (message.id === undefined) messages.push(message)
    else waiting.get(message.id)?.(message)
  })
  let lastId = 0
  const call = (method: string, ...params: unknown[]): Promise<Message> => {
    const id = (lastId += 1)
    return new Promise((resolve) => {
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
  }
  await Promise.race([new Promise((resolve) => socket.addEventListener('open', resolve)), closed])
  return { socket, messages, call, closed }
}

/** Resolves when everything that was sent has arrived. */
const roundTrip = async ({ call }: { call: (method: string) => Promise<Message> }): Promise<void> => {
  await call('eth_chainId')
}

let node: MockNode
const server = setupServer()
const useNode = (provider: ProviderName = 'keyrail'): void => {
  node = createMockNode({ baseUrl, apiKey, chainId: 31_337, provider })
  server.resetHandlers(...node.handlers)
}
beforeEach(() => {
  server.listen({ onUnhandledFrame: 'error' })
  useNode()
})
afterEach(() => server.close())

const getNumbers = (messages: readonly Message[]): unknown[] =>
  messages.map(({ params }) => {
    const { number, blockNumber, removed } = Object(params?.result ?? params?.position) as Record<string, unknown>
    const at = Number(number ?? blockNumber)
    return params?.position === undefined ? (removed === true ? `removed ${at}` : at) : `position ${at}`
  })

describe('calls over a WebSocket', () => {
  test('are responded to as over HTTP, with faults and in the list of calls', async () => {
    const { call } = await connect()
    expect((await call('eth_chainId')).result).toBe('0x7a69')
    node.fail('throttled')
    expect((await call('eth_blockNumber')).error?.code).toBe(-32_005)
    expect(node.calls().map(({ method, outcome }) => [method, outcome])).toEqual([
      ['eth_chainId', 'result'],
      ['eth_blockNumber', 'fault'],
    ])
  })

  test('a network fault ends the connection', async () => {
    const { socket, closed } = await connect()
    node.fail('network')
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}')
    expect((await closed).code).toBe(1006)
    expect(node.connections()).toBe(0)
  })

  test.each([
    ['a wrong key', `wss://node.example/testnet/v2/kr_a1`, 'key_unknown'],
    ['the path of the other kind of key', `wss://node.example/testnet/${apiKey}`, 'key_wrong_path'],
    ['another path', 'wss://node.example/testnet/v2/a/b', 'not_found'],
  ])('%s is closed with the reason', async (_, url, reason) => {
    const { closed } = await connect(url)
    expect(await closed).toMatchObject({ code: 1008, reason })
  })
})

describe('subscriptions', () => {
  test('report new heads, logs and transactions', async () => {
    const client = await connect()
    const heads = await client.call('eth_subscribe', 'newHeads')
    const logs = await client.call('eth_subscribe', 'logs', { address: token, topics: [topic] })
    const transactions = await client.call('eth_subscribe', 'newPendingTransactions')
    expect(new Set([heads.result, logs.result, transactions.result]).size).toBe(3)
    const hash = node.emit({ address: token, topics: [topic] })
    node.emit({ address: token })
    await roundTrip(client)
    const by = (id: unknown): unknown[] =>
      client.messages.filter(({ params }) => params?.subscription === id).map(({ params }) => params?.result)
    expect(by(heads.result)).toMatchObject([{ number: '0x1' }, { number: '0x2' }])
    expect(by(heads.result)[0]).not.toHaveProperty('transactions')
    expect(by(logs.result)).toMatchObject([{ blockNumber: '0x1', removed: false }])
    expect(by(transactions.result)[0]).toBe(hash)
  })

  test('after a reorganization, removed logs come before the logs of the new branch', async () => {
    const client = await connect()
    await client.call('eth_subscribe', 'logs', {})
    node.emit({ address: token })
    node.emit({ address: token })
    node.reorg(2)
    node.mine()
    await roundTrip(client)
    expect(getNumbers(client.messages)).toEqual([1, 2, 'removed 2', 'removed 1', 3, 3])
  })

  test('end with eth_unsubscribe', async () => {
    const client = await connect()
    const { result } = await client.call('eth_subscribe', 'newHeads')
    expect((await client.call('eth_unsubscribe', result)).result).toBe(true)
    expect((await client.call('eth_unsubscribe', result)).result).toBe(false)
    node.mine()
    await roundTrip(client)
    expect(client.messages).toEqual([])
  })

  test.each([
    ['an unknown kind', ['newBlocks']],
    ['a wrong address', ['logs', { address: '0x1' }]],
    ['too many params', ['newHeads', {}, {}]],
    ['a cursor without hashes', ['newHeads', { cursor: {} }]],
  ])('%s fails', async (_, params) => {
    const { call } = await connect()
    expect((await call('eth_subscribe', ...params)).error?.code).toBe(-32_602)
  })

  test('over HTTP are not available', async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}'
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${baseUrl}/v2/${apiKey}`, { method: 'POST', headers, body })
    expect(await response.json()).toMatchObject({ error: { code: -32_601 } })
  })
})

describe('a cursor', () => {
  const getHash = (number: number): Promise<Hex> =>
    connect().then(async ({ call }) => {
      const { result } = await call('eth_getBlockByNumber', `0x${number.toString(16)}`, false)
      return (result as { readonly hash: Hex }).hash
    })

  test('continues at the newest block that the client still has', async () => {
    node.mine(3)
    const hashes = [await getHash(3), await getHash(2), await getHash(1)]
    node.reorg(2)
    const client = await connect()
    await client.call('eth_subscribe', 'newHeads', { cursor: { number: '0x3', hashes } })
    node.mine()
    await roundTrip(client)
    expect(getNumbers(client.messages)).toEqual(['position 1', 2, 3, 4])
  })

  test('gives logs their positions, and a rollback one for all removed blocks', async () => {
    const client = await connect()
    await client.call('eth_subscribe', 'logs', {}, { cursor: null })
    const before = node.snapshot()
    node.emit({ address: token })
    node.mine(16)
    await roundTrip(client)
    node.revert(before)
    await roundTrip(client)
    expect(getNumbers(client.messages)).toEqual(['position 0', 1, 'position 1', 'position 17', 'position 0'])
  })

  test('that has no block of the chain is too old', async () => {
    const { call } = await connect()
    const cursor = { number: '0x5', hashes: [topic] }
    expect((await call('eth_subscribe', 'newHeads', { cursor })).error?.code).toBe(-32_001)
  })

  test('is rejected by other services', async () => {
    useNode('alchemy')
    const { call } = await connect()
    expect((await call('eth_subscribe', 'newHeads', { cursor: null })).error?.code).toBe(-32_602)
  })
})

describe('faults of notifications', () => {
  test.each([
    ['drop', [2, 3]],
    ['duplicate', [1, 1, 2, 3]],
    ['swap', [2, 1, 3]],
  ] as const)('%s', async (fault, numbers) => {
    const client = await connect()
    await client.call('eth_subscribe', 'newHeads')
    node.failNotifications(fault)
    node.mine(3)
    await roundTrip(client)
    expect(getNumbers(client.messages)).toEqual(numbers)
  })

  test('delay sends it after those that follow', async () => {
    const client = await connect()
    await client.call('eth_subscribe', 'newHeads')
    node.failNotifications('delay', { after: 1, delayMs: 10 })
    node.mine(3)
    await expect.poll(() => getNumbers(client.messages)).toEqual([1, 3, 2])
  })

  test('concern one kind, can be cancelled, and are checked', async () => {
    const client = await connect()
    await client.call('eth_subscribe', 'newHeads')
    node.failNotifications('drop', { subscription: 'logs', times: Infinity })
    const cancel = node.failNotifications('drop')
    cancel()
    node.failNotifications('drop', { times: Infinity })
    node.clearFaults()
    node.mine()
    await roundTrip(client)
    expect(getNumbers(client.messages)).toEqual([1])
    expect(() => node.failNotifications('lose' as 'drop')).toThrow('Use one of drop, duplicate, delay, swap')
    expect(() => node.failNotifications('drop', { times: 0 })).toThrow('times')
  })

  test('disconnect ends all connections, and what happens until they are open again is missed', async () => {
    const client = await connect()
    await client.call('eth_subscribe', 'newHeads')
    node.disconnect({ code: 1012, reason: 'service restart' })
    expect(await client.closed).toMatchObject({ code: 1012, reason: 'service restart' })
    node.mine()
    const next = await connect()
    await next.call('eth_subscribe', 'newHeads')
    await roundTrip(next)
    expect([client.messages, next.messages, node.connections()]).toEqual([[], [], 1])
  })

  test('reset ends connections and faults', async () => {
    const client = await connect()
    node.failNotifications('drop')
    node.reset()
    expect((await client.closed).code).toBe(1006)
    const next = await connect()
    await next.call('eth_subscribe', 'newHeads')
    node.mine()
    await roundTrip(next)
    expect(getNumbers(next.messages)).toEqual([1])
  })
})
