import { describe, expect, test } from 'vitest'
import { repeatByte, wireBlock, wireTransaction } from '@keyrail/core/test/wire.ts'
import { decodeBlock, decodePendingBlock } from './decodeBlock.ts'
import { decodeTransaction } from './decodeTransaction.ts'

const early = {
  ...wireBlock,
  number: 42n,
  gasLimit: 30_000_000n,
  gasUsed: 21_000n,
  timestamp: 1_700_000_000n,
  size: 545,
  difficulty: undefined,
  totalDifficulty: undefined,
  baseFeePerGas: undefined,
  blobGasUsed: undefined,
  excessBlobGas: undefined,
  parentBeaconBlockRoot: undefined,
  withdrawalsRoot: undefined,
  withdrawals: undefined,
  requestsHash: undefined,
  blockAccessListHash: undefined,
  slotNumber: undefined,
}

describe('decodeBlock', () => {
  test('reads one of before the forks', () => {
    expect(decodeBlock(wireBlock)).toStrictEqual(early)
  })

  test('decodes the fields that forks added', () => {
    const forks = {
      difficulty: '0x0',
      totalDifficulty: '0xa',
      baseFeePerGas: '0x7',
      blobGasUsed: '0x20000',
      excessBlobGas: '0x0',
      parentBeaconBlockRoot: repeatByte('77', 32),
      withdrawalsRoot: repeatByte('88', 32),
      withdrawals: [{ index: '0x1', validatorIndex: '0x1b207', address: repeatByte('99', 20), amount: '0x10' }],
      requestsHash: repeatByte('aa', 32),
      blockAccessListHash: repeatByte('bb', 32),
      slotNumber: '0x9',
    }
    expect(decodeBlock({ ...wireBlock, ...forks })).toStrictEqual({
      ...early,
      ...forks,
      difficulty: 0n,
      totalDifficulty: 10n,
      baseFeePerGas: 7n,
      blobGasUsed: 131_072n,
      excessBlobGas: 0n,
      slotNumber: 9n,
      withdrawals: [{ index: 1, validatorIndex: 111_111, address: repeatByte('99', 20), amount: 16n }],
    })
  })

  test('reads one without the members that some chains do not have', () => {
    const members = ['gasLimit', 'mixHash', 'sha3Uncles', 'nonce', 'logsBloom'] as const
    const missing = Object.fromEntries(members.map((member) => [member, undefined]))
    expect(decodeBlock({ ...wireBlock, ...missing, uncles: undefined })).toStrictEqual({
      ...early,
      ...missing,
      uncles: [],
    })
  })

  test.each([
    ['stateRoot', '0x'],
    ['stateRoot', null],
    ['transactionsRoot', undefined],
    ['receiptsRoot', '0x0'],
    ['logsBloom', '0x00'],
    ['extraData', 'hello'],
    ['mixHash', '0x0'],
    ['sha3Uncles', 5],
    ['nonce', '0x'],
    ['size', -1],
    ['difficulty', '1'],
    ['totalDifficulty', {}],
  ])('reads one whose %s, which nobody computes with, is %j, as Tron sends it', (name, value) => {
    expect(decodeBlock({ ...wireBlock, [name]: value })).toStrictEqual({ ...early, [name]: undefined })
  })

  test('reads one with malformed uncles as one without', () => {
    expect(decodeBlock({ ...wireBlock, uncles: ['0x'] })).toStrictEqual({ ...early, uncles: [] })
  })

  test('decodes full transactions with a decoder', () => {
    const block = decodeBlock({ ...wireBlock, transactions: [wireTransaction] }, decodeTransaction)
    expect(block.transactions).toStrictEqual([decodeTransaction(wireTransaction)])
  })

  test.each([
    ['block', 'an array', [wireBlock]],
    ['block.hash', 'a hash of a pending block', { ...wireBlock, hash: null }],
    ['block.number', 'a number of a pending block', { ...wireBlock, number: null }],
    ['block.number', 'a number of JSON', { ...wireBlock, number: 42 }],
    ['block.timestamp', 'no time', { ...wireBlock, timestamp: undefined }],
    ['block.transactions', 'no transactions', { ...wireBlock, transactions: null }],
    ['block.transactions[0]', 'full transactions instead of hashes', { ...wireBlock, transactions: [wireTransaction] }],
    [
      'block.withdrawals[0].amount',
      'no amount',
      { ...wireBlock, withdrawals: [{ index: '0x1', validatorIndex: '0x1', address: repeatByte('99', 20) }] },
    ],
  ])('names %s for %s', (place, _, value) => {
    expect(() => decodeBlock(value)).toThrow(expect.objectContaining({ kind: 'badResponse', source: 'node' }))
    expect(() => decodeBlock(value)).toThrow(`${place} is not `)
  })

  test('names the transaction and field that is broken', () => {
    const transactions = [wireTransaction, { ...wireTransaction, gas: '0x' }]
    expect(() => decodeBlock({ ...wireBlock, transactions }, decodeTransaction)).toThrow(
      'block.transactions[1].gas is not',
    )
  })
})

describe('decodePendingBlock', () => {
  test('returns null for fields that are not known yet', () => {
    const unsettled = { hash: null, number: null, miner: null, nonce: null, logsBloom: null }
    expect(decodePendingBlock({ ...wireBlock, ...unsettled })).toStrictEqual({ ...early, ...unsettled })
  })

  test('reads a complete one unchanged', () => {
    expect(decodePendingBlock(wireBlock)).toStrictEqual(early)
  })
})
