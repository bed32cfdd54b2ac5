import { describe, expect, test } from 'vitest'
import { methodNames } from '../../schema/methodSlice.ts'
import { readBlock } from './routeBlock.ts'

const pinned = (method: string, ...params: unknown[]): unknown => {
  const block = readBlock(method, JSON.stringify(params))
  return block && JSON.parse(block.pin(255))
}

describe('readBlock', () => {
  test.each([
    ['eth_getBalance', ['0xabc', 'latest'], ['0xabc', '0xff']],
    ['eth_getBalance', ['0xabc'], ['0xabc', '0xff']],
    ['eth_call', [{ to: '0xabc' }, 'latest', { '0xabc': {} }], [{ to: '0xabc' }, '0xff', { '0xabc': {} }]],
    ['eth_call', [{ to: '0xabc' }, null], [{ to: '0xabc' }, '0xff']],
    ['eth_estimateGas', [{}], [{}, '0xff']],
    ['eth_getTransactionCount', ['0xabc', 'latest'], ['0xabc', '0xff']],
    ['eth_getStorageAt', ['0xabc', '0x0', 'latest'], ['0xabc', '0x0', '0xff']],
    ['eth_getProof', ['0xabc', [], 'latest'], ['0xabc', [], '0xff']],
    ['eth_feeHistory', [4, 'latest', []], [4, '0xff', []]],
    ['eth_simulateV1', [{}, 'latest'], [{}, '0xff']],
    ['eth_getBlockByNumber', ['latest', true], ['0xff', true]],
    ['eth_getBlockReceipts', ['latest'], ['0xff']],
    ['eth_getTransactionByBlockNumberAndIndex', ['latest', '0x0'], ['0xff', '0x0']],
    ['eth_getBlockTransactionCountByNumber', ['latest'], ['0xff']],
    ['debug_traceCall', [{}, 'latest', {}], [{}, '0xff', {}]],
    ['debug_traceBlockByNumber', ['latest', {}], ['0xff', {}]],
    ['trace_block', ['latest'], ['0xff']],
    ['trace_call', [{}, ['trace'], 'latest'], [{}, ['trace'], '0xff']],
    ['eth_getLogs', [{ address: '0xabc' }], [{ address: '0xabc', fromBlock: '0xff', toBlock: '0xff' }]],
    ['eth_getLogs', [{ fromBlock: '0x1', toBlock: 'latest' }], [{ fromBlock: '0x1', toBlock: '0xff' }]],
    ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x2' }], [{ fromBlock: '0x1', toBlock: '0x2' }]],
    ['trace_filter', [{ fromBlock: 'latest' }], [{ fromBlock: '0xff', toBlock: '0xff' }]],
    // Without `fromBlock`, nodes differ.
    ['trace_filter', [{ toBlock: 'latest' }], [{ toBlock: '0xff' }]],
    ['debug_executionWitness', ['latest'], ['0xff']],
    ['debug_storageRangeAt', ['latest', 0, '0xabc', '0x', 9], ['0xff', 0, '0xabc', '0x', 9]],
  ])('%s %j reads at the head, and is pinned to it', (method, params, expected) => {
    expect(readBlock(method, JSON.stringify(params))?.atHead).toBe(true)
    expect(pinned(method, ...params)).toEqual(expected)
  })

  test('a pending read is at the head and has no number', () => {
    const block = readBlock('eth_getTransactionCount', '["0xabc","pending"]')
    expect(block?.atHead).toBe(true)
    expect(block?.pin(255)).toBe('["0xabc","pending"]')
  })

  test.each([
    ['eth_getBlockByNumber', '["0x10",false]', 16],
    ['eth_getBalance', '["0xabc","0x10"]', 16],
    ['eth_getBalance', '["0xabc","safe"]', undefined],
    ['eth_getBalance', '["0xabc","finalized"]', undefined],
    ['eth_getBalance', '["0xabc","earliest"]', undefined],
    ['eth_getBalance', '["0xabc",{"blockHash":"0x12"}]', undefined],
  ])('%s %s names its block', (method, params, number) => {
    expect(readBlock(method, params)).toMatchObject({ atHead: false, number })
  })

  test.each([
    ['eth_getLogs', '[{"blockHash":"0x12"}]'],
    ['eth_getLogs', '[]'],
    ['eth_getStorageAt', '["0xabc"]'],
    ['eth_chainId', '[]'],
    ['eth_gasPrice', '[]'],
    ['eth_getTransactionByHash', '["0xabc"]'],
    ['eth_getBlockByHash', '["0xabc",false]'],
    ['eth_sendRawTransaction', '["0x02"]'],
    // Not in the table, so its params are never rewritten.
    ['foo_setFeeByNumber', '["latest"]'],
    ['trace_replayBlockAndStore', '["latest"]'],
  ])('%s %s reads at no block', (method, params) => {
    expect(readBlock(method, params)).toBeUndefined()
  })

  test('knows every method of the schema that takes a block by number or tag', () => {
    const reading = methodNames.filter((method) => readBlock(method, '[{},{},{}]'))
    expect(reading).toEqual([
      'debug_executionWitness',
      'debug_getRawBlock',
      'debug_getRawBlockAccessList',
      'debug_getRawHeader',
      'debug_getRawReceipts',
      'debug_storageRangeAt',
      'debug_traceBlockByNumber',
      'debug_traceCall',
      'eth_call',
      'eth_createAccessList',
      'eth_estimateGas',
      'eth_feeHistory',
      'eth_getAccount',
      'eth_getAccountInfo',
      'eth_getBalance',
      'eth_getBlockAccessList',
      'eth_getBlockByNumber',
      'eth_getBlockReceipts',
      'eth_getBlockTransactionCountByNumber',
      'eth_getCode',
      'eth_getHeaderByNumber',
      'eth_getLogs',
      'eth_getProof',
      'eth_getRawTransactionByBlockNumberAndIndex',
      'eth_getStorageAt',
      'eth_getStorageValues',
      'eth_getTransactionByBlockNumberAndIndex',
      'eth_getTransactionCount',
      'eth_getUncleByBlockNumberAndIndex',
      'eth_getUncleCountByBlockNumber',
      'eth_simulateV1',
      'trace_block',
      'trace_call',
      'trace_callMany',
      'trace_filter',
      'trace_replayBlockTransactions',
    ])
  })
})
