import { describe, expect, test } from 'vitest'
import { methods, toOwnRow } from '../../lib/methods.ts'
import { findCallAddresses as findInCall } from './findCallAddresses.ts'
import type { CallAddresses } from './addressParams.ts'

const findCallAddresses = (method: string, params: unknown): CallAddresses | undefined =>
  findInCall(methods.get(method), params)

const a = `0x${'a1'.repeat(20)}`
const b = `0x${'b2'.repeat(20)}`
const raw =
  '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83'

describe('findCallAddresses', () => {
  // A new row of the table fails this test until someone has decided what an address list does with it.
  test('knows what to do with each method that the service can offer', () => {
    const unknown = [...methods].filter(
      ([, { service, addresses }]) => service !== 'development' && addresses === undefined,
    )
    expect(unknown).toEqual([])
  })

  test('checks every offered method of which a param can be the pending block', () => {
    const exempt = new Set(['eth_feeHistory'])
    const byNumber = [...methods.keys()].filter((name) =>
      /By(?:Block)?Number|^eth_getBlock(?:Receipts|AccessList)$/.test(name),
    )
    expect(byNumber.length).toBeGreaterThan(8)
    for (const name of byNumber.filter((each) => !exempt.has(each)))
      expect([name, findCallAddresses(name, ['pending'])]).toEqual([name, { forbidden: 'block that is not mined' }])
  })

  test.each<[string, unknown, readonly unknown[]]>([
    ['eth_call', [{ to: a }, 'latest'], [a]],
    ['eth_call', [{ from: b, to: a }, 'latest', null], [a]],
    ['eth_call', [{ to: a }, 'latest', {}, { number: '0x1' }], [a]],
    ['eth_call', [{ to: 5 }], [5]],
    ['eth_estimateGas', [{ to: a }], [a]],
    ['eth_createAccessList', [{ to: a }], [a]],
    ['eth_fillTransaction', [{ to: a }], [a]],
    ['eth_getBalance', [a, 'latest'], [a]],
    ['eth_getBalance', [], [undefined]],
    ['eth_getCode', [a], [a]],
    ['eth_getStorageAt', [a, '0x0'], [a]],
    ['eth_getTransactionCount', [a], [a]],
    ['eth_getProof', [a, []], [a]],
    ['eth_getStorageValues', [{ [a]: [], [b]: [] }], [a, b]],
    ['debug_storageRangeAt', ['0x', 0, a, '0x', 1], [a]],
    ['eth_getLogs', [{ address: a }], [a]],
    ['eth_getLogs', [{ address: [a, b] }], [a, b]],
    ['eth_getLogs', [{ address: [a, [b]] }], [a, [b]]],
    ['eth_newFilter', [{ address: [a] }], [a]],
    ['eth_sendRawTransaction', [raw], [`0x${'35'.repeat(20)}`]],
    ['eth_sendRawTransactionSync', [raw], [`0x${'35'.repeat(20)}`]],
    ['trace_rawTransaction', [raw, ['trace']], [`0x${'35'.repeat(20)}`]],
    ['trace_call', [{ to: a }, ['trace']], [a]],
    [
      'trace_callMany',
      [
        [
          [{ to: a }, ['trace']],
          [{ to: b }, ['trace']],
        ],
      ],
      [a, b],
    ],
    ['debug_traceCall', [{ to: a }, 'latest', { tracer: 'callTracer', blockOverrides: {} }], [a]],
    ['debug_traceCall', [{ to: a }, 'latest'], [a]],
    ['eth_simulateV1', [{ blockStateCalls: [{ calls: [{ to: a }] }, {}, { calls: [{ to: b }] }] }], [a, b]],
    ['eth_simulateV1', [{ blockStateCalls: [null, { calls: null }, { calls: [{ to: a }] }] }, null], [a]],
    ['eth_call', [{ to: a, authorizationList: [{ address: b, nonce: '0x0' }] }], [a, b]],
    ['eth_call', [{ to: a, authorizationList: [{ address: `0x${'0'.repeat(40)}` }, {}] }], [a, undefined]],
    ['debug_traceTransaction', ['0x', { tracer: 'callTracer', tracerConfig: { withLog: true } }], []],
    ['debug_traceBlockByNumber', ['latest'], []],
    ['eth_getBlockByNumber', ['latest', true], []],
    ['eth_getBlockByNumber', ['0x1F', false], []],
    ['eth_getBlockReceipts', [{ blockHash: `0x${'0a'.repeat(32)}` }], []],
    ['eth_getBlockReceipts', [{ blockNumber: 'finalized' }], []],
    ['trace_block', [17], []],
    ['trace_filter', [{ fromAddress: [a], toAddress: [b], count: 5 }], [a, b]],
    ['trace_filter', [{ fromBlock: 1, toBlock: 'latest', toAddress: a }], [a]],
    ['eth_getLogs', [{ address: a, fromBlock: 'earliest', toBlock: '0x10' }], [a]],
    ['eth_subscribe', ['logs', { address: a, fromBlock: null }], [a]],
    ['linea_getProof', [a, [], 'latest'], [a]],
    ['ots_getContractCreator', [a], [a]],
  ])('%s with %j has the addresses %j', (method, params, addresses) => {
    expect(findCallAddresses(method, params)).toEqual({ addresses })
  })

  test.each<[string, unknown, string]>([
    ['eth_call', [{ data: '0x6000' }], 'call without an address'],
    ['eth_call', [{ to: null }], 'call without an address'],
    ['eth_call', [{ To: a }], 'unknown member "To" of params[0] (did you mean "to"?)'],
    ['eth_call', [], 'call without an address'],
    ['eth_call', { 0: { to: a } }, 'params that are not a list'],
    ['eth_call', undefined, 'call without an address'],
    ['eth_call', [[{ to: a }]], 'value that is not an object at params[0]'],
    ['eth_call', [{ to: a }, 'latest', { [a]: { code: '0x00' } }], 'state overrides'],
    ['eth_call', [{ to: a }, 'latest', [1]], 'state overrides'],
    ['eth_estimateGas', [{ to: a }, 'latest', { [b]: {} }], 'state overrides'],
    ['eth_createAccessList', [{ to: a }, 'latest', { [b]: {} }], 'state overrides'],
    ['trace_call', [{ to: a }, [], 'latest', { [b]: {} }], 'state overrides'],
    ['trace_callMany', [[[{ to: a }], [{}]]], 'call without an address'],
    ['trace_callMany', [[]], 'call without an address'],
    ['trace_callMany', [[[{ to: a }, []]], 'latest', { stateOverrides: {} }], 'state overrides'],
    ['trace_callMany', [[{ to: a }]], 'value that is not a list at params[0][0]'],
    ['debug_traceCall', [{ to: a }, 'latest', { stateOverrides: { [b]: {} } }], 'state overrides'],
    [
      'debug_traceCall',
      [{ to: a }, 'latest', { STATEOVERRIDES: { [b]: {} } }],
      'unknown member "STATEOVERRIDES" of params[2] (did you mean "stateOverrides"?)',
    ],
    [
      'debug_traceCall',
      [{ to: a }, 'latest', { ſtateOverrides: { [b]: {} } }],
      'unknown member "ſtateOverrides" of params[2] (did you mean "stateOverrides"?)',
    ],
    [
      'debug_traceCall',
      [{ to: a }, 'latest', { tracer: '{step: function(log, db) {}}' }],
      "tracer of the caller's own",
    ],
    ['debug_traceCall', [{ to: a }, 'latest', { Tracer: '{}' }], "tracer of the caller's own"],
    ['debug_traceCall', [{}], 'call without an address'],
    ['eth_simulateV1', [{ blockStateCalls: [{ stateOverrides: { [a]: {} }, calls: [{ to: a }] }] }], 'state overrides'],
    [
      'eth_simulateV1',
      [{ blockStateCalls: [{ StateOverrides: { [a]: {} }, calls: [{ to: a }] }] }],
      'unknown member "StateOverrides" of params[0].blockStateCalls[0] (did you mean "stateOverrides"?)',
    ],
    [
      'eth_simulateV1',
      [{ blockStateCalls: [{ calls: [{ to: a }] }, { Calls: [{ to: b }] }] }],
      'unknown member "Calls" of params[0].blockStateCalls[1] (did you mean "calls"?)',
    ],
    ['eth_simulateV1', [{ blockStateCalls: [{ calls: [{ to: a }, {}] }] }], 'call without an address'],
    [
      'eth_simulateV1',
      [{ blockStateCalls: [{ calls: { to: a } }] }],
      'value that is not a list at params[0].blockStateCalls[0].calls',
    ],
    [
      'eth_simulateV1',
      [{ blockStateCalls: [{ calls: [{ to: a }] }, [null, null, [{ to: b }]]] }],
      'value that is not an object at params[0].blockStateCalls[1]',
    ],
    ['eth_call', [{ to: a, value: { to: b } }], 'object at params[0].value'],
    ['eth_call', [{ to: a, blobs: [[[[[[]]]]]] }], 'object at params[0].blobs'],
    [
      'eth_call',
      [{ to: a }, { blockHash: '0x', blockhash: '0x' }],
      'unknown member "blockhash" of params[1] (did you mean "blockHash"?)',
    ],
    ['eth_call', [{ to: a }, 'latest', {}, {}, 'more'], 'value at params[4]'],
    [
      'eth_call',
      [{ to: a }, 'latest', {}, { ['x'.repeat(100)]: 1 }],
      `unknown member "${'x'.repeat(40)}…" of params[3]`,
    ],
    ['trace_block', ['latest', false, { tracer: '{}' }], "tracer of the caller's own"],
    ['debug_traceTransaction', ['0x', { tracer: '{}' }], "tracer of the caller's own"],
    ['debug_traceTransaction', ['0x', { stateOverrides: { [a]: {} } }], 'state overrides'],
    ['debug_traceBlockByNumber', ['latest', { overrides: {} }], 'unknown member "overrides" of params[1]'],
    ['debug_traceBlockByNumber', ['latest', ['callTracer']], 'value that is not an object at params[1]'],
    ['eth_simulateV1', [{ blockStateCalls: [] }], 'call without an address'],
    ['eth_simulateV1', [], 'call without an address'],
    ['eth_getLogs', [{}], 'call without an address'],
    ['eth_getLogs', [{ address: [] }], 'call without an address'],
    ['eth_getLogs', [{ address: null }], 'call without an address'],
    ['eth_getLogs', [{ Address: a }], 'unknown member "Address" of params[0] (did you mean "address"?)'],
    ['eth_getStorageValues', [{}], 'call without an address'],
    ['eth_sendRawTransaction', ['0x00'], 'invalid transaction'],
    ['eth_sendRawTransaction', [], 'invalid transaction'],
    ['trace_filter', [{}], 'call without an address'],
    ['trace_filter', [{ fromAddress: [], toAddress: null }], 'call without an address'],
    ['trace_filter', [{ FromAddress: [a] }], 'unknown member "FromAddress" of params[0] (did you mean "fromAddress"?)'],
    ['eth_newPendingTransactionFilter', [true], 'method whose addresses cannot be checked'],
    ['eth_newPendingTransactionFilter', [], 'method whose addresses cannot be checked'],
    ['eth_getTransactionBySenderAndNonce', [a, '0x0'], 'method whose addresses cannot be checked'],
    ['eth_getLogs', [{ address: a, toBlock: 'pending' }], 'block that is not mined'],
    ['eth_getLogs', [{ address: a, fromBlock: 'Pending' }], 'block that is not mined'],
    ['eth_getLogs', [{ address: a, blockHash: 'pending' }], 'block that is not mined'],
    ['eth_newFilter', [{ address: a, toBlock: 'pending' }], 'block that is not mined'],
    ['eth_subscribe', ['logs', { address: a, fromBlock: 'pending' }], 'block that is not mined'],
    ['eth_subscribe', ['newPendingTransactions', true], 'newPendingTransactions'],
    ['trace_filter', [{ fromBlock: 'pending', toAddress: a }], 'block that is not mined'],
    ['trace_filter', [{ toBlock: -1, fromAddress: [a] }], 'block that is not mined'],
    ['txpool_contentFrom', [a], 'method whose addresses cannot be checked'],
    ['eth_getBlockByNumber', ['pending', true], 'block that is not mined'],
    ['eth_getBlockByNumber', ['PENDING', true], 'block that is not mined'],
    ['eth_getBlockByNumber', [' pending', true], 'block that is not mined'],
    ['eth_getBlockByNumber', ['', true], 'block that is not mined'],
    ['eth_getBlockByNumber', [-1, true], 'block that is not mined'],
    ['eth_getBlockReceipts', [{ blockNumber: 'pending' }], 'block that is not mined'],
    ['eth_getBlockReceipts', [{ blockHash: null, blockNumber: 'pending' }], 'block that is not mined'],
    ['eth_getTransactionByBlockNumberAndIndex', ['pending', '0x0'], 'block that is not mined'],
    ['eth_getRawTransactionByBlockNumberAndIndex', ['pending', '0x0'], 'block that is not mined'],
    ['debug_getRawBlock', ['pending'], 'block that is not mined'],
    ['debug_traceBlockByNumber', ['pending'], 'block that is not mined'],
    ['trace_block', ['pending'], 'block that is not mined'],
    ['trace_replayBlockTransactions', ['pending', ['trace']], 'block that is not mined'],
    ['eth_getBlockByHash', ['pending', true], 'block that is not mined'],
    ['eth_getBlockByHash', [{ blockNumber: 'pending' }, true], 'block that is not mined'],
    ['eth_getHeaderByHash', ['pending'], 'block that is not mined'],
    ['eth_getBlockTransactionCountByHash', ['pending'], 'block that is not mined'],
    ['eth_getTransactionByBlockHashAndIndex', ['pending', '0x0'], 'block that is not mined'],
    ['eth_getRawTransactionByBlockHashAndIndex', ['pending', '0x0'], 'block that is not mined'],
    ['eth_getUncleByBlockHashAndIndex', ['pending', '0x0'], 'block that is not mined'],
    ['eth_getUncleCountByBlockHash', ['pending'], 'block that is not mined'],
    ['debug_traceBlockByHash', ['pending', {}], 'block that is not mined'],
    ['debug_traceBadBlock', ['pending'], 'block that is not mined'],
    ['debug_intermediateRoots', ['pending'], 'block that is not mined'],
    ['debug_traceBlock', ['0x'], 'method whose addresses cannot be checked'],
    ['eth_callMany', [[]], 'method whose addresses cannot be checked'],
    ['eth_sendUserOperation', [{}, a], 'method whose addresses cannot be checked'],
    ['anvil_setCode', [a, '0x'], 'method whose addresses cannot be checked'],
    ['constructor', [], 'method whose addresses cannot be checked'],
  ])('%s with %j is forbidden: %s', (method, params, forbidden) => {
    expect(findCallAddresses(method, params)).toEqual({ forbidden })
  })

  test('checks the params of a method that the config adds as the config says', () => {
    const row = toOwnRow({ access: 'read', addresses: ['plain', 'address'] })
    expect(findInCall(row, [1, a])).toEqual({ addresses: [a] })
    expect(findInCall(row, [1, a, 2])).toHaveProperty('forbidden')
    expect(findInCall(toOwnRow({ addresses: 'rejected' }), [a])).toHaveProperty('forbidden')
    expect(findInCall(toOwnRow({ addresses: 'none' }), [a])).toBeUndefined()
    expect(findInCall(toOwnRow({ addresses: 'none' }), [{ tracer: '{}' }])).toHaveProperty('forbidden')
  })

  test('a member __proto__ is an unknown member', () => {
    const params: unknown = JSON.parse(`[{"__proto__":{"to":"${a}"}}]`)
    expect(findCallAddresses('eth_call', params)).toEqual({ forbidden: 'unknown member "__proto__" of params[0]' })
  })
})
