import { describe, expect, test } from 'vitest'
import { repeatByte, wireReceipt } from '@keyrail/core/test/wire.ts'
import { decodeReceipt } from './decodeReceipt.ts'

describe('decodeReceipt', () => {
  test('reads one with its logs', () => {
    expect(decodeReceipt(wireReceipt)).toStrictEqual({
      type: 'eip1559',
      typeNumber: 2,
      status: 'success',
      root: undefined,
      transactionHash: repeatByte('a1', 32),
      transactionIndex: 3,
      blockHash: repeatByte('b1', 32),
      blockNumber: 42n,
      from: repeatByte('f0', 20),
      to: repeatByte('70', 20),
      contractAddress: null,
      gasUsed: 21_000n,
      cumulativeGasUsed: 42_000n,
      effectiveGasPrice: 10n ** 9n,
      blobGasUsed: undefined,
      blobGasPrice: undefined,
      logs: [
        {
          address: repeatByte('c0', 20),
          topics: [repeatByte('e1', 32)],
          data: '0x2a',
          blockHash: repeatByte('b1', 32),
          blockNumber: 42n,
          blockTimestamp: undefined,
          transactionHash: repeatByte('a1', 32),
          transactionIndex: 3,
          logIndex: 9,
          removed: false,
        },
      ],
      logsBloom: repeatByte('00', 256),
    })
  })

  test('decodes a reverted one, one with blobs, and one from before Byzantium', () => {
    expect(decodeReceipt({ ...wireReceipt, status: '0x0' }).status).toBe('reverted')
    expect(decodeReceipt({ ...wireReceipt, type: '0x3', blobGasUsed: '0x20000', blobGasPrice: '0x1' })).toMatchObject({
      type: 'eip4844',
      blobGasUsed: 131_072n,
      blobGasPrice: 1n,
    })
    const { status: _, ...old } = wireReceipt
    expect(decodeReceipt({ ...old, root: repeatByte('33', 32) })).toMatchObject({
      status: undefined,
      root: repeatByte('33', 32),
    })
  })

  test.each([
    ['receipt', 'null', null],
    ['receipt.status', 'a status that is a boolean', { ...wireReceipt, status: true }],
    ['receipt.status', 'an unknown status', { ...wireReceipt, status: '0x2' }],
    ['receipt.blockNumber', 'no block', { ...wireReceipt, blockNumber: null }],
    ['receipt.logs', 'no logs', { ...wireReceipt, logs: undefined }],
    ['receipt.logs[0]', 'a log that is none', { ...wireReceipt, logs: ['0x'] }],
    [
      'receipt.logs[0].topics[0]',
      'a short topic',
      { ...wireReceipt, logs: [{ ...wireReceipt.logs[0], topics: ['0x1'] }] },
    ],
  ])('names %s for %s', (place, _, value) => {
    expect(() => decodeReceipt(value)).toThrow(expect.objectContaining({ kind: 'badResponse', source: 'node' }))
    expect(() => decodeReceipt(value)).toThrow(`${place} is not `)
  })
})
