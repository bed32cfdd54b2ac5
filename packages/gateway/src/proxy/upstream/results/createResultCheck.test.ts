import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMethodPolicy } from '../../method/createMethodPolicy.ts'
import type { MethodTraits } from '../../method/createMethodPolicy.ts'
import { createResultCheck } from './createResultCheck.ts'

const policy = createMethodPolicy({ debug: true, trace: true, txpool: true })
const check = (method: string, params: unknown, result: unknown, chainId = 1): boolean | undefined =>
  createResultCheck(
    { method, params: JSON.stringify(params), traits: policy(method) as MethodTraits },
    chainId,
  )?.(typeof result === 'string' ? result : JSON.stringify(result))

const hash = `0x${'ab'.repeat(32)}`
/** Also a safe integer. */
const zeros = `0x${'27'.padStart(64, '0')}`
const other = `0x${'cd'.repeat(32)}`
const address = `0x${'a1'.repeat(20)}`
const topics = [`0x${'1'.repeat(64)}`, `0x${'2'.repeat(64)}`]
const log = {
  address,
  topics,
  data: '0x',
  blockNumber: '0x10',
  blockHash: hash,
  transactionIndex: '0x0',
  logIndex: '0x0',
}

test.each([314, 314_159])('a transaction of chain %i may have another hash', (chainId) => {
  expect(check('eth_getTransactionByHash', [hash], { hash: other }, chainId)).toBeUndefined()
  expect(check('eth_getTransactionReceipt', [hash], { transactionHash: other }, chainId)).toBeUndefined()
  expect(check('eth_getTransactionReceipt', [hash], { transactionHash: other })).toBe(false)
  expect(check('eth_getBlockByHash', [hash, false], { hash: other }, chainId)).toBe(false)
})

describe('a result is accepted', () => {
  test.each<[string, string, unknown, unknown]>([
    [
      'with its hash in other letters',
      'eth_getTransactionByHash',
      [hash],
      { hash: hash.toUpperCase().replace('X', 'x') },
    ],
    ['with a hash that starts with zeros', 'eth_getBlockByHash', [zeros, false], { hash: zeros, number: '0x1f' }],
    ['without a hash', 'eth_getTransactionByHash', [hash], { from: address }],
    ['of a pending block', 'eth_getBlockByNumber', ['pending', false], { hash: null, number: null }],
    ['of a tag', 'eth_getBlockByNumber', ['latest', false], { hash, number: '0x1' }],
    ['with a number with zeros', 'eth_getBlockByNumber', ['0x010', false], { number: '0x10' }],
    ['that is null', 'eth_getBlockByHash', [hash, false], null],
    ['that is no object', 'eth_getTransactionReceipt', [hash], '0x1'],
    ['of params that are no hash', 'eth_getTransactionByHash', ['0x10'], { hash }],
    ['of receipts', 'eth_getBlockReceipts', [hash], [{ blockHash: hash }, { blockHash: hash }]],
    ['of receipts by an object', 'eth_getBlockReceipts', [{ blockNumber: '0x10' }], [{ blockNumber: '0x10' }]],
    ['of no logs', 'eth_getLogs', [{}], []],
    ['of logs without a filter', 'eth_getLogs', [{}], [log, { ...log, logIndex: '0x1' }]],
    [
      'of logs with another range',
      'eth_getLogs',
      [{ fromBlock: '0x11', toBlock: 'latest' }],
      [{ ...log, blockNumber: '0x12' }],
    ],
    ['of a log that was removed', 'eth_getLogs', [{ address: other.slice(0, 42) }], [{ ...log, removed: true }]],
    ['of an address in other letters', 'eth_getLogs', [{ address: address.toUpperCase().replace('X', 'x') }], [log]],
    ['of an address without 0x', 'eth_getLogs', [{ address: address.slice(2) }], [log]],
    ['of a topic without 0x', 'eth_getLogs', [{ topics: [null, [topics[1]?.slice(2)]] }], [log]],
    ['of an address in a list', 'eth_getLogs', [{ address: [other.slice(0, 42), address] }], [log]],
    [
      'of an address that a chain spells in its own way',
      'eth_getLogs',
      [{ address }],
      [{ ...log, address: `xdc${address.slice(2)}` }],
    ],
    ['of an empty list of addresses', 'eth_getLogs', [{ address: [] }], [log]],
    ['of no topics', 'eth_getLogs', [{ topics: [] }], [log]],
    ['of the first topic', 'eth_getLogs', [{ topics: [topics[0]] }], [log]],
    ['of any first topic', 'eth_getLogs', [{ topics: [null, topics[1]] }], [log]],
    ['of lists of topics', 'eth_getLogs', [{ topics: [[other, topics[0]], [topics[1]]] }], [log]],
    ['of a filter with a null in a list', 'eth_getLogs', [{ topics: [[other, null]] }], [log]],
    ['of a filter with a wrong address', 'eth_getLogs', [{ address: [1] }], [log]],
    ['of a filter with a wrong topic', 'eth_getLogs', [{ topics: [1] }], [log]],
    ['of logs that are counted by transaction', 'eth_getLogs', [{}], [log, { ...log, transactionIndex: '0x1' }]],
    // The results that eRPC's tests of integrity accept too: `checks_identity_test.go`, `checks_getlogs_test.go` and `checks_receipts_test.go`.
    ['of the requested transaction', 'eth_getTransactionReceipt', [hash], { transactionHash: hash, logs: [] }],
    ['of a block, in capital letters', 'eth_getBlockByHash', [hash, false], { hash: hash.toUpperCase() }],
    ['of a block by something that is no hash', 'eth_getBlockByHash', ['0xnothash', false], { hash }],
    ['of the requested number', 'eth_getBlockByNumber', ['0x123', false], { number: '0x123' }],
    ['with zeros before its number', 'eth_getBlockByNumber', ['0x123', false], { number: '0x0123' }],
    ['with its number in capital letters', 'eth_getBlockByNumber', ['0x1ab', false], { number: '0x1AB' }],
    ['of the finalized block', 'eth_getBlockByNumber', ['finalized', false], { number: '0x999' }],
    ['of the safe block', 'eth_getBlockByNumber', ['safe', false], { number: '0x999' }],
    ['of the earliest block', 'eth_getBlockByNumber', ['earliest', false], { number: '0x999' }],
    ['of a pending transaction', 'eth_getTransactionByHash', [hash], { hash, blockHash: null, blockNumber: null }],
    [
      'of receipts with the hash of their block in other letters',
      'eth_getBlockReceipts',
      [hash],
      [{ blockHash: hash }, { blockHash: hash.toUpperCase() }],
    ],
    ['of all topics', 'eth_getLogs', [{ topics }], [log]],
    [
      'of a topic in capital letters',
      'eth_getLogs',
      [{ topics: [`0x${'A'.repeat(64)}`] }],
      [{ ...log, topics: [`0x${'a'.repeat(64)}`] }],
    ],
    ['of more topics than a log has', 'eth_getLogs', [{ topics: [null, null, null, null, null] }], [log]],
    [
      'of pending logs',
      'eth_getLogs',
      [{}],
      [
        { ...log, blockNumber: null },
        { ...log, blockNumber: null },
      ],
    ],
  ])('%s', (_, method, params, result) => {
    expect(check(method, params, result) ?? true).toBe(true)
  })

  test('of a filter that nodes might read differently', () => {
    for (const filter of [`{"address":"${address}","address":"${other}"}`, `{"Address":"${other.slice(0, 42)}"}`])
      expect(
        createResultCheck(
          {
            method: 'eth_getLogs',
            params: `[${filter}]`,
            traits: policy('eth_getLogs') as MethodTraits,
          },
          1,
        ),
      ).toBeUndefined()
  })
})

test('a large block is checked by its start', () => {
  const start = (found: string) =>
    `{"number":"0x10","hash":"${found}","withdrawals":[],"transactions":[{"hash":"${other}"`
  expect(check('eth_getBlockByHash', [hash, true], start(hash))).toBe(true)
  expect(check('eth_getBlockByHash', [hash, true], start(other))).toBe(false)
  expect(check('eth_getBlockByHash', [hash, true], `{"transactions":[{"hash":"${other}"`)).toBe(true)
})

test('logs in parts are checked as in one', () => {
  const bad = { ...log, blockNumber: '0x11', address: other.slice(0, 42) }
  const texts = [[log, { ...log, logIndex: '0x1' }], [log, bad], [bad, log], []].map((logs) =>
    JSON.stringify(logs, null, 1),
  )
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.array(fc.nat(400), { maxLength: 6 }), (text, cuts) => {
      const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length].toSorted((a, b) => a - b)
      const parts = places.slice(1).map((place, index) => text.slice(places[index], place))
      const push = createResultCheck(
        {
          method: 'eth_getLogs',
          params: JSON.stringify([{ address }]),
          traits: policy('eth_getLogs') as MethodTraits,
        },
        1,
      )
      expect(parts.every((part) => push?.(part) === true)).toBe(check('eth_getLogs', [{ address }], text))
    }),
  )
})

test('what is no list of objects is not kept', () => {
  const push = createResultCheck(
    {
      method: 'eth_getLogs',
      params: '[{}]',
      traits: policy('eth_getLogs') as MethodTraits,
    },
    1,
  )
  expect([push?.('["x'), push?.('y"]'), push?.('{')]).toEqual([true, true, true])
})
