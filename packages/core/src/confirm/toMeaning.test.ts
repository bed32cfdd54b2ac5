import { describe, expect, test } from 'vitest'
import { toFailureMeaning, toMeaning } from './toMeaning.ts'

describe('results mean the same', () => {
  test.each([
    ['in another order', 'eth_getLogs', [{ data: '0x', logIndex: '0x1' }], [{ logIndex: '0x1', data: '0x' }]],
    ['in another case', 'eth_getCode', '0xABcd', '0xabCD'],
    ['with a member that is null or missing', 'eth_getTransactionReceipt', { to: null, type: '0x2' }, { type: '0x2' }],
    ['with zeros before a quantity', 'eth_getBalance', '0x00ff', '0xff'],
    ['with no digit for zero', 'eth_getStorageAt', `0x${'0'.repeat(64)}`, '0x'],
    ['with zeros before the quantity of a member', 'eth_getBlockByNumber', { gasUsed: '0x0010' }, { gasUsed: '0x10' }],
    ['with a quantity as a number', 'eth_getTransactionByHash', { chainId: 10 }, { chainId: '0xa' }],
    [
      'with a list of quantities',
      'eth_feeHistory',
      { baseFeePerGas: ['0x01', '0x00'] },
      { baseFeePerGas: ['0x1', '0x0'] },
    ],
    ['with the time of the block', 'eth_getLogs', [{ data: '0x', blockTimestamp: '0x5' }], [{ data: '0x' }]],
    ['with the fees of a layer 1', 'eth_getTransactionReceipt', { status: '0x1', l1Fee: '0x9' }, { status: '0x1' }],
    ['with the total difficulty', 'eth_getBlockByHash', { number: '0x1', totalDifficulty: '0x9' }, { number: '0x1' }],
    [
      'with either spelling of the parity',
      'eth_getTransactionByHash',
      { r: '0x1', v: '0x0' },
      { r: '0x01', yParity: '0x0' },
    ],
  ])('%s', (_, method, one, other) => {
    expect(toMeaning(one, method)).toBe(toMeaning(other, method))
  })
})

describe('results mean something else', () => {
  test.each([
    ['with other data', 'eth_call', '0x01', '0x02'],
    ['with zeros before data', 'eth_call', '0x0001', '0x01'],
    ['with zeros before the data of a member', 'eth_getLogs', [{ data: '0x00' }], [{ data: '0x' }]],
    ['with a log less', 'eth_getLogs', [{ logIndex: '0x0' }, { logIndex: '0x1' }], [{ logIndex: '0x0' }]],
    [
      'with logs in another order',
      'eth_getLogs',
      [{ logIndex: '0x0' }, { logIndex: '0x1' }],
      [{ logIndex: '0x1' }, { logIndex: '0x0' }],
    ],
    ['of another block', 'eth_getTransactionReceipt', { blockHash: '0xaa' }, { blockHash: '0xbb' }],
    ['with null', 'eth_getTransactionReceipt', { status: '0x1' }, null],
    ['with an empty list', 'eth_getLogs', null, []],
    ['with text that is no hex', 'web3_clientVersion', 'Geth', 'geth'],
  ])('%s', (_, method, one, other) => {
    expect(toMeaning(one, method)).not.toBe(toMeaning(other, method))
  })
})

test('a member named __proto__ counts', () => {
  const method = 'eth_getLogs'
  expect(toMeaning(JSON.parse('[{"__proto__":{"data":"0x1"}}]'), method)).not.toBe(toMeaning([{}], method))
})

describe('failures', () => {
  const error = (code: number, message: string, data?: unknown) => ({ code, message, data })

  test.each([
    [
      'with other words',
      error(3, 'execution reverted', '0x08C379A0'),
      error(-32000, 'VM error: revert', 'Reverted 0x08c379a0'),
    ],
    ['without data or with none', error(3, 'execution reverted'), error(-32000, 'reverted', '0x')],
  ])('of a revert mean the same %s', (_, one, other) => {
    expect(toFailureMeaning('revert', one)).toBe(toFailureMeaning('revert', other))
  })

  test('of a revert mean something else with other data', () => {
    const [one, other] = [error(3, 'execution reverted', '0x08c379a0'), error(3, 'execution reverted', '0x08c379a1')]
    expect(toFailureMeaning('revert', one)).not.toBe(toFailureMeaning('revert', other))
  })

  test('of other kinds mean the same if the kind is the same', () => {
    expect(toFailureMeaning('invalidRequest', error(-32602, 'bad'))).toBe(
      toFailureMeaning('invalidRequest', error(-32000, 'no')),
    )
    expect(toFailureMeaning('invalidRequest', error(-32602, 'bad'))).not.toBe(
      toFailureMeaning('revert', error(3, 'bad')),
    )
  })
})
