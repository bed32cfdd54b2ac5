import { describe, expect, test } from 'vitest'
import { cacheKind, cacheRule, namesTag } from './cacheRule.ts'

const a = `0x${'a'.repeat(64)}`
const b = `0x${'b'.repeat(64)}`

/** Whether this result is cached if block 100 is the last final one. */
const keeps = (method: string, params: unknown[], value: unknown, finalBlock = 100): boolean => {
  const text = JSON.stringify(params)
  if (!cacheKind(method) || namesTag(method, text)) return false
  return cacheRule(method, text)?.(value, finalBlock) ?? false
}

const block = { hash: a, number: '0x64', transactions: [] }
const log = { blockHash: a, blockNumber: '0x64', logIndex: '0x0' }
const transaction = { hash: b, blockHash: a, blockNumber: '0x64' }
const receipt = { transactionHash: b, blockHash: a, blockNumber: '0x64' }
const trace = { transactionHash: b, blockHash: a, blockNumber: 100, error: 'Reverted' }

test.each<[string, unknown[], unknown]>([
  ['eth_getBlockByHash', [a, false], block],
  ['eth_getBlockByHash', [a.toUpperCase().replace('0X', '0x'), false], block],
  ['eth_getBlockByNumber', ['0x64', true], block],
  ['eth_getHeaderByNumber', ['0x64'], block],
  ['eth_getBlockReceipts', [a], [receipt]],
  ['eth_getBlockReceipts', [{ blockHash: a }], [receipt]],
  ['eth_getBlockReceipts', ['0x64'], [receipt]],
  ['eth_getBlockTransactionCountByHash', [a], '0x0'],
  ['eth_getBlockTransactionCountByNumber', ['0x64'], '0x3'],
  ['eth_getTransactionByBlockHashAndIndex', [a, '0x0'], transaction],
  ['eth_getTransactionByBlockNumberAndIndex', ['0x64', '0x0'], transaction],
  ['eth_getUncleByBlockHashAndIndex', [a, '0x0'], { hash: b, number: '0x63' }],
  ['eth_getUncleCountByBlockNumber', ['0x0'], '0x0'],
  ['eth_getLogs', [{ blockHash: a, topics: [] }], [log, log]],
  ['debug_traceBlockByHash', [a, { tracer: 'callTracer' }], [{ txHash: b, result: {} }]],
  ['trace_block', ['0x64'], [trace]],
  ['eth_call', [{ to: '0x1' }, '0x64'], '0x'],
  ['eth_call', [{ to: '0x1' }, { blockNumber: '0x64' }], '0x'],
  ['eth_call', [{ to: '0x1' }, { blockHash: a }], '0x'],
  ['eth_call', [{ to: '0x1' }, { blockHash: a, requireCanonical: false }], '0x'],
  ['eth_call', [{ to: '0x1' }, a, { '0x1': { balance: '0x1' } }], '0x'],
  ['eth_getBalance', ['0x1', '0x63'], '0x0'],
  ['eth_getCode', ['0x1', '0x64'], '0x'],
  ['eth_getTransactionCount', ['0x1', '0x64'], '0x1'],
  ['eth_getStorageAt', ['0x1', '0x0', { blockHash: a }], '0x0'],
  ['eth_getProof', ['0x1', [], '0x64'], { accountProof: [], codeHash: b, storageHash: b }],
  ['eth_getTransactionByHash', [b], transaction],
  ['eth_getTransactionReceipt', [b], receipt],
  ['trace_transaction', [b], [trace, trace]],
  ['eth_chainId', [], '0x1'],
  ['net_version', [], '1'],
])('%s %j is cached', (method, params, value) => {
  expect(keeps(method, params, value)).toBe(true)
})

test.each<[string, string, unknown[], unknown]>([
  ['a tag', 'eth_getBlockByNumber', ['latest', false], block],
  ['a tag', 'eth_getBlockByNumber', ['finalized', false], block],
  ['a tag', 'eth_getBlockByNumber', ['earliest', false], block],
  ['a tag', 'eth_call', [{ to: '0x1' }, 'safe'], '0x'],
  ['a tag', 'eth_getBalance', ['0x1', 'pending'], '0x'],
  ['a tag in an object', 'eth_getBalance', ['0x1', { blockNumber: 'latest' }], '0x'],
  ['what is left out and means latest', 'eth_call', [{ to: '0x1' }], '0x'],
  ['null, which means latest', 'eth_getBalance', ['0x1', null], '0x0'],
  ['a block that is not final', 'eth_getBlockByNumber', ['0x65', false], { ...block, number: '0x65' }],
  ['a state that is not final', 'eth_call', [{ to: '0x1' }, '0x65'], '0x'],
  ['a hash that must be canonical', 'eth_call', [{ to: '0x1' }, { blockHash: a, requireCanonical: true }], '0x'],
  ['null', 'eth_getBlockByHash', [a, false], null],
  ['null', 'eth_getTransactionReceipt', [b], null],
  ['an empty list', 'eth_getLogs', [{ blockHash: a }], []],
  ['an empty list', 'trace_transaction', [b], []],
  ['a range of logs', 'eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x2' }], [log]],
  ['logs by a field that filters have not', 'eth_getLogs', [{ blockNumber: '0x64' }], [log]],
  ['a pending transaction', 'eth_getTransactionByHash', [b], { ...transaction, blockHash: null, blockNumber: null }],
  [
    'a transaction in a block that is not final',
    'eth_getTransactionByHash',
    [b],
    { ...transaction, blockNumber: '0x65' },
  ],
  ['a receipt of a block that is not final', 'eth_getTransactionReceipt', [b], { ...receipt, blockNumber: '0x65' }],
  ['a trace of a block that is not final', 'trace_transaction', [b], [trace, { ...trace, blockNumber: 101 }]],
  ['another block', 'eth_getBlockByHash', [a, false], { ...block, hash: b }],
  ['another block', 'eth_getBlockByNumber', ['0x64', false], { ...block, number: '0x63' }],
  ['logs of another block', 'eth_getLogs', [{ blockHash: a }], [log, { ...log, blockHash: b }]],
  ['another transaction', 'eth_getTransactionByHash', [b], { ...transaction, hash: a }],
  ['the receipt of another', 'eth_getTransactionReceipt', [b], { ...receipt, transactionHash: a }],
  ['a trace that gave up', 'debug_traceBlockByHash', [a], [{ txHash: b, result: {} }, { error: 'execution timeout' }]],
  ['a number that is none', 'eth_getBlockByNumber', ['0x', false], block],
  ['a trace by transaction, which names no block', 'debug_traceTransaction', [b], { gas: '0x1' }],
  ['what a transaction would do', 'eth_estimateGas', [{ to: '0x1' }, '0x64'], '0x5208'],
  ['a price', 'eth_gasPrice', [], '0x1'],
  ['the head', 'eth_blockNumber', [], '0x1'],
  ['an object\u2019s own method', 'constructor', [], '0x1'],
])('%s is not cached: %s %j', (_, method, params, value) => {
  expect(keeps(method, params, value)).toBe(false)
})

describe('while no block is known to be final', () => {
  test('only results by block hash are cached', () => {
    expect(keeps('eth_getBlockByNumber', ['0x0', false], { number: '0x0' }, -1)).toBe(false)
    expect(keeps('eth_getTransactionReceipt', [b], receipt, -1)).toBe(false)
    expect(keeps('eth_getBlockByHash', [a, false], block, -1)).toBe(true)
  })
})

test.each<[string, unknown[], boolean]>([
  ['eth_getBlockByNumber', ['latest', false], true],
  ['eth_getBlockReceipts', ['finalized'], true],
  ['eth_getBalance', ['0x1', 'latest'], true],
  ['eth_call', [{ to: '0x1' }, 'pending'], true],
  ['eth_getProof', ['0x1', ['0x0'], 'safe'], true],
  // These take the slow path, and are not cached either.
  ['eth_call', [{ to: '0x1' }, 'latest', {}], false],
  ['eth_getLogs', [{ fromBlock: 'latest' }], false],
  ['eth_getBlockByNumber', ['0x64', false], false],
  ['eth_getBalance', ['0x1', '0x64'], false],
  ['eth_getTransactionByHash', ['latest'], false],
])('%s %j contains a tag: %s', (method, params, tag) => {
  const text = JSON.stringify(params)
  expect(namesTag(method, text)).toBe(tag)
  if (tag) expect(cacheRule(method, text)).toBe(undefined)
})
