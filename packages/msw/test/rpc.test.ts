import type { Hex, RpcLog, TransactionRequest } from '@keyrail/core'
import { createClient, iterateLogs } from '@keyrail/fetch'
import { setupServer } from 'msw/node'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMockNode } from '../src/index.ts'
import type { ProviderName } from '../src/index.ts'
import { createTestNode, toWord } from './createTestNode.ts'
import type { TestNode } from './createTestNode.ts'
import { getError } from '@keyrail/core/test/getFailure.ts'

const one: Hex = `0x${'11'.repeat(20)}`
const two: Hex = `0x${'22'.repeat(20)}`
let testNode: TestNode
let request: (method: string, ...params: unknown[]) => Promise<never>
beforeEach(() => {
  testNode = createTestNode()
  request = testNode.request as never
})
const getRpcError = async (call: Promise<unknown>): Promise<{ code: number; message: string }> => {
  const { code, message } = await getError<{ code: number; message: string }>(call)
  return { code, message }
}

describe('params are checked with the messages of geth', () => {
  const common = 'invalid argument 0: json: cannot unmarshal'
  test.each<[method: string, params: readonly unknown[], message: string]>([
    ['eth_getBalance', [], 'missing value for required argument 0'],
    ['eth_getBalance', [one, 'latest', 1], 'too many arguments, want at most 2'],
    ['eth_getBalance', [5], `${common} non-string into Go value of type common.Address`],
    ['eth_getBalance', ['11'], `${common} hex string without 0x prefix into Go value of type common.Address`],
    ['eth_getBalance', ['0x1'], `${common} hex string of odd length into Go value of type common.Address`],
    ['eth_getBalance', ['0xzz'], `${common} invalid hex string into Go value of type common.Address`],
    ['eth_getBalance', ['0x11'], 'invalid argument 0: hex string has length 2, want 40 for common.Address'],
    ['eth_getBalance', [one, '0x01'], 'invalid argument 1: hex number with leading zero digits'],
    ['eth_getBalance', [one, '0x'], 'invalid argument 1: hex string "0x"'],
    ['eth_getBalance', [one, 'newest'], 'invalid argument 1: hex string without 0x prefix'],
    [
      'eth_getBalance',
      [one, { blockHash: toWord(1), blockNumber: '0x1' }],
      'invalid argument 1: cannot specify both BlockHash and BlockNumber, choose one or the other',
    ],
    ['eth_getStorageAt', [one, '0xasdf', 'latest'], 'invalid hex in storage key: "0xasdf"'],
    [
      'eth_getBlockByNumber',
      ['latest', 'yes'],
      'invalid argument 1: json: cannot unmarshal non-boolean into Go value of type bool',
    ],
    ['eth_getTransactionByHash', ['0x12'], 'invalid argument 0: hex string has length 2, want 64 for common.Hash'],
    ['eth_getLogs', [5], 'invalid argument 0: json: cannot unmarshal into Go value of an object'],
    [
      'eth_getLogs',
      [{ blockHash: toWord(1), fromBlock: '0x1' }],
      'invalid argument 0: cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other',
    ],
    ['eth_getLogs', [{ fromBlock: '0x2', toBlock: '0x1' }], 'invalid block range params'],
    ['eth_getLogs', [{ topics: [null, null, null, null, null] }], 'exceed max topics'],
    ['eth_getLogs', [{ topics: ['0x12'] }], 'invalid argument 0: invalid topic(s)'],
    ['eth_getLogs', [{ address: '0x12' }], 'invalid argument 0: invalid address'],
    ['eth_call', [{ to: '0x12' }], 'invalid argument 0: hex string has length 2, want 40 for common.Address'],
    [
      'eth_call',
      [{ to: one, data: '0x1' }],
      'invalid argument 0: json: cannot unmarshal invalid hex string into Go struct field TransactionArgs.input of type hexutil.Bytes',
    ],
    ['eth_sendRawTransaction', ['0x02'], 'rlp: unexpected EOF'],
    [
      'eth_feeHistory',
      ['many', 'latest', []],
      'invalid argument 0: json: cannot unmarshal invalid hex string into Go value of type math.HexOrDecimal64',
    ],
  ])('%s of %j', async (method, params, message) => {
    expect(await getRpcError(request(method, ...params))).toEqual({ code: -32_602, message })
  })

  test.each<[method: string, params: readonly unknown[], message: string]>([
    ['eth_getBalance', [one, '0x5'], 'header not found'],
    ['eth_call', [{ to: one }, toWord(5)], 'header not found'],
    ['eth_getLogs', [{ blockHash: toWord(5) }], 'unknown block'],
    ['eth_getFilterChanges', ['0x5'], 'filter not found'],
    ['eth_feeHistory', ['0x1', '0x5', []], 'request beyond head block'],
    ['eth_feeHistory', ['0x1', 'latest', [50, 10]], 'invalid reward percentile: #0:50 >= #1:10'],
    ['eth_feeHistory', ['0x1', 'latest', [101]], 'invalid reward percentile: 101'],
    ['eth_sendTransaction', [{ from: one }], 'unknown account'],
    [
      'eth_call',
      [{ from: one, to: two, value: '0x1' }],
      `insufficient funds for gas * price + value: address ${one} have 0 want 1`,
    ],
    ['eth_estimateGas', [{ to: two, gas: '0x5207' }], 'gas required exceeds allowance (20999)'],
  ])('%s of %j fails with -32000', async (method, params, message) => {
    expect(await getRpcError(request(method, ...params))).toEqual({ code: -32_000, message })
  })
})

describe('logs', () => {
  const [a, b, c] = [toWord(1), toWord(2), toWord(3)]
  beforeEach(() => {
    testNode.node.emit([
      { address: one, topics: [a, b] },
      { address: two, topics: [a] },
    ])
    testNode.node.emit({ address: one, topics: [c, b], data: '0x05' })
    testNode.node.emit({ address: two })
  })
  const getPositions = async (filter: object): Promise<string[]> =>
    ((await request('eth_getLogs', { fromBlock: '0x0', ...filter })) as RpcLog[]).map(
      ({ blockNumber, logIndex }) => `${Number(blockNumber)}/${Number(logIndex)}`,
    )

  test.each<[what: string, filter: object, places: readonly string[]]>([
    ['everything', {}, ['1/0', '1/1', '2/0', '3/0']],
    ['an address', { address: one }, ['1/0', '2/0']],
    [
      'an address in capitals',
      { address: one.replace('0x11', '0x11').toUpperCase().replace('0X', '0x') },
      ['1/0', '2/0'],
    ],
    ['one of two addresses', { address: [one, two] }, ['1/0', '1/1', '2/0', '3/0']],
    ['no address', { address: [] }, ['1/0', '1/1', '2/0', '3/0']],
    ['a topic', { topics: [a] }, ['1/0', '1/1']],
    ['one of two topics', { topics: [[a, c]] }, ['1/0', '1/1', '2/0']],
    ['a topic in second place', { topics: [null, b] }, ['1/0', '2/0']],
    ['anything in both places', { topics: [null, null] }, ['1/0', '2/0']],
    ['an empty list of topics', { topics: [[], b] }, ['1/0', '2/0']],
    ['a null among topics', { topics: [[null, a]] }, ['1/0', '1/1', '2/0']],
    ['an address and a topic', { address: two, topics: [a] }, ['1/1']],
    ['a topic without logs', { topics: [toWord(9)] }, []],
    ['a range', { fromBlock: '0x2', toBlock: '0x2' }, ['2/0']],
    ['tags', { fromBlock: 'latest', toBlock: 'latest' }, ['3/0']],
    ['blocks after the head', { fromBlock: '0x9', toBlock: '0xa' }, []],
    ['a range that extends past the head', { fromBlock: '0x3', toBlock: '0xa' }, ['3/0']],
  ])('by %s', async (_, filter, places) => {
    expect(await getPositions(filter)).toEqual(places)
  })

  test('by the hash of a block', async () => {
    const { hash } = (await request('eth_getBlockByNumber', '0x2', false)) as { hash: Hex }
    const logs: RpcLog[] = await request('eth_getLogs', { blockHash: hash })
    expect(logs).toHaveLength(1)
    expect(logs[0]).toMatchObject({ data: '0x05', topics: [c, b], address: one, removed: false })
  })

  test('of a filter are returned once, and once more as removed after a reorganization', async () => {
    const filter = await request('eth_newFilter', { address: one, fromBlock: '0x1' })
    const blocks = await request('eth_newBlockFilter')
    const pending = await request('eth_newPendingTransactionFilter')
    expect(await request('eth_getFilterChanges', filter)).toEqual([])
    expect(((await request('eth_getFilterLogs', filter)) as RpcLog[]).length).toBe(2)
    const hash = testNode.node.emit({ address: one, data: '0x07' })
    testNode.node.emit({ address: two })
    expect(await request('eth_getFilterChanges', filter)).toMatchObject([{ data: '0x07', removed: false }])
    expect(await request('eth_getFilterChanges', filter)).toEqual([])
    expect(((await request('eth_getFilterChanges', pending)) as Hex[])[0]).toBe(hash)
    expect(((await request('eth_getFilterChanges', blocks)) as Hex[]).length).toBe(2)
    testNode.node.reorg(2)
    expect(await request('eth_getFilterChanges', filter)).toMatchObject([{ data: '0x07', removed: true }])
    testNode.node.mine()
    expect(await request('eth_getFilterChanges', filter)).toMatchObject([{ data: '0x07', removed: false }])
    expect(await request('eth_uninstallFilter', filter)).toBe(true)
    expect(await request('eth_uninstallFilter', filter)).toBe(false)
    expect(await getRpcError(request('eth_getFilterLogs', blocks))).toMatchObject({ message: 'filter not found' })
  })
})

describe('a range that is too wide', () => {
  const url = 'https://node.example/rpc'
  const opened: (() => void)[] = []
  afterEach(() => {
    for (const close of opened.splice(0)) close()
  })

  test.each<[ProviderName, object]>([
    ['alchemy', { maxLogs: 10 }],
    ['infura', { maxLogs: 10 }],
    ['quicknode', { maxLogBlocks: 7 }],
    ['ankr', { maxLogBlocks: 7 }],
    ['drpc', { maxLogBlocks: 7 }],
    ['node', { maxLogBlocks: 7 }],
  ])('is rejected as by %s, with a message that iterateLogs can parse', async (provider, limits) => {
    const node = createMockNode({ url, provider, limits })
    const server = setupServer(...node.handlers)
    server.listen({ onUnhandledFrame: 'error' })
    const client = createClient({ url, retry: false })
    opened.push(() => (client.close(), server.close()))
    for (let block = 0; block < 40; block++) node.emit({ address: one, data: toWord(block) })
    const seen: bigint[] = []
    for await (const log of iterateLogs(client, { address: one, fromBlock: 0n, toBlock: 40n }))
      seen.push(BigInt(log.data))
    expect(seen).toEqual(Array.from({ length: 40 }, (_, block) => BigInt(block)))
    expect(node.calls('eth_getLogs').filter(({ outcome }) => outcome === 'error').length).toBeGreaterThan(0)
  })
})

describe('blocks and state', () => {
  test('are found by tag, number and hash, with their historical values', async () => {
    const { node } = testNode
    node.setBalance(one, 5n)
    node.setNonce(one, 9)
    node.setCode(one, '0x6001')
    node.setStorageAt(one, 1, 7n)
    node.mine(100)
    node.setBalance(one, 6n)
    node.mine()
    const getNumber = async (block: unknown): Promise<number> =>
      Number(((await request('eth_getBlockByNumber', block, false)) as { number: Hex }).number)
    expect(await Promise.all(['earliest', 'finalized', 'safe', 'latest', '0x5', 'pending'].map(getNumber))).toEqual([
      0, 37, 69, 101, 5, 102,
    ])
    expect(
      await Promise.all(
        ['earliest', '0x63', '0x64', 'latest', 'pending', { blockNumber: '0x1' }].map((block) =>
          request('eth_getBalance', one, block),
        ),
      ),
    ).toEqual(['0x5', '0x5', '0x6', '0x6', '0x6', '0x5'])
    expect(await request('eth_getTransactionCount', one)).toBe('0x9')
    expect(await request('eth_getCode', one)).toBe('0x6001')
    expect(await request('eth_getStorageAt', one, '0x1')).toBe(toWord(7))
    expect(await request('eth_getStorageValues', { [one]: ['0x1', toWord(2)] })).toEqual({
      [one]: [toWord(7), toWord(0)],
    })
    expect(await request('eth_getAccountInfo', one, 'latest')).toEqual({ balance: '0x6', nonce: '0x9', code: '0x6001' })
    const { hash } = (await request('eth_getBlockByNumber', '0x1', false)) as { hash: Hex }
    expect(await request('eth_getBalance', one, { blockHash: hash, requireCanonical: true })).toBe('0x5')
    expect(await request('eth_getBalance', one, hash)).toBe('0x5')
  })

  test('pending transactions are only in the pending block', async () => {
    const { node, request: typed } = createTestNode({ automine: false })
    const from = node.accounts[0]!.address
    const hash = await typed('eth_sendTransaction', { from, to: one, value: '0x1' } as TransactionRequest)
    expect(await typed('eth_getBlockByNumber', 'pending', false)).toMatchObject({
      number: '0x1',
      hash: null,
      transactions: [hash],
    })
    expect(await typed('eth_getTransactionByHash', hash)).toMatchObject({ hash, blockHash: null, blockNumber: null })
    expect(await typed('eth_getTransactionReceipt', hash)).toBeNull()
    expect([
      await typed('eth_getTransactionCount', from, 'latest'),
      await typed('eth_getTransactionCount', from, 'pending'),
    ]).toEqual(['0x0', '0x1'])
    expect(await typed('txpool_status')).toEqual({ pending: '0x1', queued: '0x0' })
    node.advanceTime(12)
    expect(await typed('eth_getTransactionReceipt', hash)).toMatchObject({ blockNumber: '0x1', status: '0x1' })
    expect(await typed('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' })
  })

  test('state overrides affect only their call', async () => {
    testNode.node.mockContract(one, (call) => call.getStorage(toWord(0)))
    const overrides = { [one]: { stateDiff: { [toWord(0)]: toWord(8) } }, [two]: { balance: '0x5' } }
    expect(await request('eth_call', { from: two, to: one, value: '0x5' }, 'latest', overrides)).toBe(toWord(8))
    expect(await request('eth_call', { to: one }, 'latest')).toBe(toWord(0))
  })

  test('fees follow the gas used by blocks', async () => {
    const { node } = testNode
    const [{ address: from } = { address: one }] = node.accounts
    await request('eth_sendTransaction', { from, to: one, gas: '0x1c9c380', data: `0x${'ff'.repeat(80_000)}` })
    node.mine()
    const history = (await request('eth_feeHistory', '0x3', 'latest', [0, 100])) as {
      baseFeePerGas: Hex[]
      gasUsedRatio: number[]
      reward: Hex[][]
      oldestBlock: Hex
    }
    expect(history.oldestBlock).toBe('0x0')
    expect(history.baseFeePerGas).toHaveLength(4)
    expect(history.gasUsedRatio[1]).toBeCloseTo(1_301_000 / 30_000_000)
    expect(history.reward.map((rewards) => rewards.map(Number))).toEqual([
      [0, 0],
      [1e9, 1e9],
      [0, 0],
    ])
    for (const number of [0, 1, 2]) {
      const block = (await request('eth_getBlockByNumber', `0x${number}`, false)) as { baseFeePerGas: Hex }
      expect(history.baseFeePerGas[number]).toBe(block.baseFeePerGas)
    }
    expect(await request('eth_baseFee')).toBe(history.baseFeePerGas[3])
    expect(Number(await request('eth_gasPrice'))).toBe(Number(history.baseFeePerGas[3]) + 1e9)
  })

  test('transactions are found by every lookup method', async () => {
    const { node } = testNode
    const hash = node.emit({ address: one })
    const { hash: blockHash } = (await request('eth_getBlockByNumber', 'latest', false)) as { hash: Hex }
    const tx = await request('eth_getTransactionByHash', hash)
    expect(await request('eth_getTransactionByBlockHashAndIndex', blockHash, '0x0')).toEqual(tx)
    expect(await request('eth_getTransactionByBlockNumberAndIndex', 'latest', '0x0')).toEqual(tx)
    expect(await request('eth_getTransactionByBlockNumberAndIndex', 'latest', '0x1')).toBeNull()
    const raw = await request('eth_getRawTransactionByHash', hash)
    expect(await request('eth_getRawTransactionByBlockNumberAndIndex', 'latest', '0x0')).toBe(raw)
    expect(await request('eth_getRawTransactionByBlockHashAndIndex', blockHash, '0x0')).toBe(raw)
    expect(await request('debug_getRawTransaction', hash)).toBe(raw)
    expect(await request('eth_getBlockTransactionCountByHash', blockHash)).toBe('0x1')
    expect(await request('eth_getBlockReceipts', 'latest')).toEqual([await request('eth_getTransactionReceipt', hash)])
    expect(await getRpcError(request('eth_sendRawTransaction', raw))).toMatchObject({
      message: 'nonce too low: next nonce 1, tx nonce 0',
    })
    const { keccak256, fromRlp } = await import('viem')
    const header = (await request('debug_getRawHeader', 'latest')) as Hex
    expect(keccak256(header)).toBe(blockHash)
    const [headerParts, transactions] = fromRlp(await request('debug_getRawBlock', 'latest'), 'hex') as [
      Hex[],
      Hex[],
      Hex[],
      Hex[],
    ]
    expect(headerParts).toEqual(fromRlp(header, 'hex'))
    expect(transactions).toEqual([raw])
    const block = (await request('eth_getBlockByNumber', 'latest', false)) as { size: Hex }
    expect(Number(block.size)).toBe(((await request('debug_getRawBlock', 'latest')) as Hex).length / 2 - 1)
  })

  test('a block in RLP has legacy transactions as lists and the others as bytes', async () => {
    const { node, request: typed } = createTestNode({ automine: false })
    const [from, other] = node.accounts.map(({ address }) => address) as [Hex, Hex]
    const request = { to: one, value: '0x1', data: `0x${'ab'.repeat(60)}` } as const
    const hashes = [
      await typed('eth_sendTransaction', { ...request, from, gasPrice: '0xb2d05e00' } as TransactionRequest),
      await typed('eth_sendTransaction', { ...request, from: other } as TransactionRequest),
    ]
    node.mine()
    const { fromRlp, keccak256, toRlp } = await import('viem')
    const raw: Hex = await typed('debug_getRawBlock', '0x1' as never)
    const [, transactions, ...others] = fromRlp(raw, 'hex') as [Hex[], (Hex | Hex[])[], Hex[], Hex[]]
    expect(transactions.map((tx) => typeof tx).sort()).toEqual(['object', 'string'])
    const computedHashes = transactions.map((tx) => keccak256(typeof tx === 'string' ? tx : toRlp(tx)))
    expect(new Set(computedHashes)).toEqual(new Set(hashes))
    expect(others).toEqual([[], []])
    expect(Number(((await typed('eth_getBlockByNumber', '0x1', false)) as { size: Hex }).size)).toBe(raw.length / 2 - 1)
  })

  test('hex of a handler is normalized: upper case and missing leading zeros make no difference', async () => {
    const { node } = testNode
    const upper = (hex: Hex): Hex => `0x${hex.slice(2).toUpperCase()}`
    const topic: Hex = `0x${'ab'.repeat(32)}`
    node.setStorageAt(one, topic, 5n)
    node.mockContract(one, (call) => {
      call.setStorage('0xc', '0xD')
      call.log([upper(topic)], '0xABCD')
      return call.getStorage(upper(topic))
    })
    expect(await request('eth_call', { to: one })).toBe(toWord(5))
    await request('eth_sendTransaction', { from: node.accounts[0]!.address, to: one })
    expect(await request('eth_getStorageAt', one, '0xc')).toBe(toWord(13))
    expect(await request('eth_getLogs', { topics: [topic] })).toMatchObject([{ topics: [topic], data: '0xabcd' }])
  })

  test('reset restores the initial state', async () => {
    const { node } = testNode
    const genesis = await request('eth_getBlockByNumber', 'latest', true)
    node.mockContract(one, () => '0x01')
    node.fail('auth', { after: 9 })
    node.emit({ address: one })
    node.provider = 'infura'
    node.reset()
    expect([node.blockNumber(), node.calls().length, node.provider]).toEqual([0, 0, 'keyrail'])
    expect(await request('eth_getBlockByNumber', 'latest', true)).toEqual(genesis)
    expect(await request('eth_call', { to: one })).toBe('0x')
  })

  test('the methods about the node itself have results', async () => {
    expect(await request('web3_clientVersion')).toBe('Keyrail/mock')
    expect(await request('web3_sha3', '0x')).toBe('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470')
    expect(await request('eth_accounts')).toHaveLength(10)
    expect([
      await request('net_listening'),
      await request('eth_syncing'),
      await request('eth_getUncleCountByBlockNumber', 'latest'),
    ]).toEqual([true, false, '0x0'])
  })
})
