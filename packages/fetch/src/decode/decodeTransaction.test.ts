import { describe, expect, test } from 'vitest'
import { repeatByte, wireFeeMarket, wireTransaction } from '@keyrail/core/test/wire.ts'
import { decodeTransaction } from './decodeTransaction.ts'

const common = {
  hash: wireTransaction.hash,
  from: wireTransaction.from,
  to: wireTransaction.to,
  nonce: 7,
  gas: 21_000n,
  value: 10n ** 18n,
  input: '0x',
  blockHash: wireTransaction.blockHash,
  blockNumber: 42n,
  transactionIndex: 3,
  blockTimestamp: undefined,
}
const accessList = [{ address: repeatByte('70', 20), storageKeys: [repeatByte('00', 32)] }]
const signature = { yParity: 1, v: 1n, r: 1n, s: 2n }
const feeMarket = {
  chainId: 1,
  gasPrice: 10n ** 9n,
  maxFeePerGas: 2n * 10n ** 9n,
  maxPriorityFeePerGas: 1n,
  accessList,
  ...signature,
}

describe('decodeTransaction', () => {
  test('reads a legacy one, with or without its type and chain id', () => {
    const legacy = {
      ...common,
      type: 'legacy',
      typeNumber: 0,
      chainId: undefined,
      gasPrice: 10n ** 9n,
      v: 37n,
      yParity: undefined,
      r: 1n,
      s: 2n,
    }
    expect(decodeTransaction(wireTransaction)).toStrictEqual(legacy)
    const { type: _, ...ancient } = wireTransaction
    expect(decodeTransaction(ancient)).toStrictEqual(legacy)
    expect(decodeTransaction({ ...wireTransaction, chainId: '0x1' })).toStrictEqual({ ...legacy, chainId: 1 })
  })

  test('reads one with an access list', () => {
    const { maxFeePerGas: _fee, maxPriorityFeePerGas: _tip, ...wireAccessList } = wireFeeMarket
    expect(decodeTransaction({ ...wireTransaction, ...wireAccessList, type: '0x1' })).toStrictEqual({
      ...common,
      type: 'eip2930',
      typeNumber: 1,
      chainId: 1,
      gasPrice: 10n ** 9n,
      accessList,
      ...signature,
    })
  })

  test('reads one with a fee market', () => {
    expect(decodeTransaction({ ...wireTransaction, ...wireFeeMarket, type: '0x2' })).toStrictEqual({
      ...common,
      type: 'eip1559',
      typeNumber: 2,
      ...feeMarket,
    })
  })

  test('gets the parity from v if a node sends nothing else', () => {
    const { yParity: _, ...older } = wireFeeMarket
    expect(decodeTransaction({ ...wireTransaction, ...older, type: '0x2' })).toMatchObject(signature)
  })

  test('reads one with blobs', () => {
    const blobs = { maxFeePerBlobGas: '0x5', blobVersionedHashes: [repeatByte('01', 32)] }
    expect(decodeTransaction({ ...wireTransaction, ...wireFeeMarket, ...blobs, type: '0x3' })).toStrictEqual({
      ...common,
      type: 'eip4844',
      typeNumber: 3,
      ...feeMarket,
      maxFeePerBlobGas: 5n,
      blobVersionedHashes: [repeatByte('01', 32)],
    })
  })

  test('decodes one with authorizations, including invalid ones that a valid transaction may contain', () => {
    const authorization = { address: repeatByte('ad', 20), yParity: '0xff', r: '0x3', s: '0x4' }
    const authorizationList = [
      { ...authorization, chainId: '0x0', nonce: '0x1' },
      { ...authorization, chainId: repeatByte('ff', 32), nonce: '0xffffffffffffffff' },
    ]
    expect(decodeTransaction({ ...wireTransaction, ...wireFeeMarket, authorizationList, type: '0x4' })).toStrictEqual({
      ...common,
      type: 'eip7702',
      typeNumber: 4,
      ...feeMarket,
      authorizationList: [
        { address: authorization.address, chainId: 0n, nonce: 1n, yParity: 255, r: 3n, s: 4n },
        { address: authorization.address, chainId: 2n ** 256n - 1n, nonce: 2n ** 64n - 1n, yParity: 255, r: 3n, s: 4n },
      ],
    })
  })

  test('decodes the common fields of an unknown type and passes the others on as the node sent them', () => {
    const { v: _v, r: _r, s: _s, gasPrice: _g, ...deposit } = wireTransaction
    expect(decodeTransaction({ ...deposit, type: '0x7e', mint: '0x1' })).toStrictEqual({
      ...common,
      type: 'other',
      typeNumber: 126,
      mint: '0x1',
    })
  })

  test('reads an access list that a node leaves out as an empty one', () => {
    const { accessList: _, ...bare } = { ...wireTransaction, ...wireFeeMarket, type: '0x2' }
    expect(decodeTransaction(bare)).toMatchObject({ type: 'eip1559', accessList: [] })
  })

  test('reads a pending transaction, and one that creates a contract', () => {
    const pending = { ...wireTransaction, to: null, blockHash: null, blockNumber: null, transactionIndex: null }
    const nowhere = { to: null, blockHash: null, blockNumber: null, transactionIndex: null }
    expect(decodeTransaction(pending)).toMatchObject(nowhere)
    const { blockHash: _h, blockNumber: _n, transactionIndex: _i, to: _t, ...bare } = wireTransaction
    expect(decodeTransaction(bare)).toMatchObject(nowhere)
  })

  test.each([
    ['transaction', 'an array', []],
    ['transaction', 'a string', repeatByte('a1', 32)],
    ['transaction.hash', 'no hash', { ...wireTransaction, hash: undefined }],
    ['transaction.value', 'a decimal value', { ...wireTransaction, value: '7' }],
    ['transaction.gasPrice', 'no gas price', { ...wireTransaction, gasPrice: null }],
    ['transaction.type', 'a type that is a name', { ...wireTransaction, type: 'legacy' }],
    ['transaction.chainId', 'no chain id', { ...wireTransaction, ...wireFeeMarket, chainId: undefined, type: '0x2' }],
    [
      'transaction.accessList',
      'an access list that is a string',
      { ...wireTransaction, ...wireFeeMarket, accessList: '0x', type: '0x1' },
    ],
    [
      'transaction.accessList[0].storageKeys[0]',
      'a short storage key',
      {
        ...wireTransaction,
        ...wireFeeMarket,
        accessList: [{ address: repeatByte('70', 20), storageKeys: ['0x0'] }],
        type: '0x2',
      },
    ],
    ['transaction.authorizationList', 'no authorizations', { ...wireTransaction, ...wireFeeMarket, type: '0x4' }],
  ])('names %s for %s', (place, _, value) => {
    expect(() => decodeTransaction(value)).toThrow(expect.objectContaining({ kind: 'badResponse', source: 'node' }))
    expect(() => decodeTransaction(value)).toThrow(`${place} is not `)
  })
})
