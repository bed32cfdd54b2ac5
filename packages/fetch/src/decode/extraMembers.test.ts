import { describe, expect, test } from 'vitest'
import { repeatByte, wireBlock, wireFeeMarket, wireLog, wireReceipt, wireTransaction } from '@keyrail/core/test/wire.ts'
import { getFeeHistory } from '../read/getFeeHistory.ts'
import { decodeBlock, decodePendingBlock } from './decodeBlock.ts'
import { decodeLog } from './decodeLog.ts'
import { decodeReceipt } from './decodeReceipt.ts'
import { decodeTransaction } from './decodeTransaction.ts'

/** The places of members that the node sent and that a decoded value does not have, or has with another value. */
function lostMembers(wire: unknown, decoded: unknown, place = ''): string[] {
  if (Array.isArray(wire) && Array.isArray(decoded))
    return wire.flatMap((item, index) => lostMembers(item, decoded[index], `${place}[${index}]`))
  if (typeof wire === 'object' && wire !== null && typeof decoded === 'object' && decoded !== null)
    return Object.entries(wire).flatMap(([name, member]) =>
      Object.hasOwn(decoded, name)
        ? lostMembers(member, (decoded as Record<string, unknown>)[name], `${place}.${name}`)
        : `${place}.${name}`,
    )
  if (typeof decoded === 'bigint' || typeof decoded === 'number')
    return BigInt(decoded) === BigInt(String(wire)) ? [] : [place]
  return Object.is(wire, decoded) ? [] : [place]
}

/** Members that no decoder knows: of rollups, of other nodes, of a fork to come. */
const unknownMembers = {
  l1BlockNumber: '0x10',
  l1Fee: '0x1234',
  l1FeeScalar: '0.684',
  sendRoot: repeatByte('5e', 32),
  isSystemTx: false,
  creates: null,
  nested: { list: ['0x1', { deep: '0x2' }] },
}

const authorizationList = [
  {
    chainId: '0x1',
    address: repeatByte('ad', 20),
    nonce: '0x1',
    yParity: '0x1',
    r: '0x3',
    s: '0x4',
    v: '0x1',
    ...unknownMembers,
  },
]
const typed = {
  ...wireTransaction,
  ...wireFeeMarket,
  accessList: [{ address: repeatByte('70', 20), storageKeys: [repeatByte('00', 32)], ...unknownMembers }],
  blockTimestamp: '0x6553f100',
  ...unknownMembers,
}
const blobs = { maxFeePerBlobGas: '0x5', blobVersionedHashes: [repeatByte('01', 32)] }

const transactions = [
  ['legacy', { ...wireTransaction, chainId: '0x1', yParity: '0x0', blockTimestamp: '0x1', ...unknownMembers }],
  ['legacy with members of later types', { ...typed, ...blobs, type: '0x0' }],
  ['eip2930', { ...typed, type: '0x1' }],
  ['eip1559', { ...typed, type: '0x2' }],
  ['eip4844', { ...typed, ...blobs, type: '0x3' }],
  ['eip7702', { ...typed, authorizationList, type: '0x4' }],
] as const

/** The type is decoded into a name, which `lostMembers` cannot compare. */
const withoutType = (wire: object): object =>
  Object.fromEntries(Object.entries(wire).filter(([name]) => name !== 'type'))

describe('a decoded value has every member that the node sent', () => {
  test.each(transactions)('a transaction: %s', (_, wire) => {
    expect(lostMembers(withoutType(wire), decodeTransaction(wire))).toEqual([])
  })

  test.each(['0x1', '0x2', '0x3', '0x4'])('v of a transaction of type %s is a bigint', (type) => {
    expect(decodeTransaction({ ...typed, ...blobs, authorizationList, type })).toMatchObject({ v: 1n, yParity: 1 })
  })

  test('v is undefined if the node sent only yParity', () => {
    const { v: _, ...newer } = wireFeeMarket
    const { v: __, ...unsigned } = wireTransaction
    expect(decodeTransaction({ ...unsigned, ...newer, type: '0x2' })).toMatchObject({ v: undefined, yParity: 1 })
  })

  test('a transaction of an unknown type has its further members as the node sent them', () => {
    const wire = { ...typed, type: '0x7e', mint: '0x0', sourceHash: repeatByte('50', 32), v: '0x0', gasPrice: '0x0' }
    expect(lostMembers(withoutType(wire), decodeTransaction(wire))).toEqual([])
    expect(decodeTransaction(wire)).toMatchObject({ type: 'other', nonce: 7, mint: '0x0', v: '0x0', gasPrice: '0x0' })
  })

  test('a log', () => {
    const wire = {
      ...wireLog,
      removed: true,
      blockTimestamp: '0x6553f100',
      transactionLogIndex: '0x0',
      ...unknownMembers,
    }
    expect(lostMembers(wire, decodeLog(wire))).toEqual([])
  })

  test('a receipt, with its logs', () => {
    const {
      type: _,
      status: __,
      ...wire
    } = {
      ...wireReceipt,
      blobGasUsed: '0x20000',
      blobGasPrice: '0x1',
      root: repeatByte('33', 32),
      logs: [{ ...wireLog, ...unknownMembers }],
      ...unknownMembers,
    }
    expect(lostMembers(wire, decodeReceipt(wire))).toEqual([])
  })

  test.each([
    ['with hashes', wireBlock.transactions, undefined],
    ['with transactions', [typed], decodeTransaction],
  ] as const)('a block %s, mined or pending', (_, given, decode) => {
    const wire = {
      ...wireBlock,
      difficulty: '0x0',
      totalDifficulty: '0xc70d815d562d3cfa955',
      baseFeePerGas: '0x7',
      blobGasUsed: '0x20000',
      excessBlobGas: '0x0',
      parentBeaconBlockRoot: repeatByte('77', 32),
      withdrawalsRoot: repeatByte('88', 32),
      withdrawals: [
        { index: '0x1', validatorIndex: '0x2', address: repeatByte('99', 20), amount: '0x10', ...unknownMembers },
      ],
      requestsHash: repeatByte('aa', 32),
      blockAccessListHash: repeatByte('bb', 32),
      slotNumber: '0x9',
      transactions: given.map((transaction) =>
        typeof transaction === 'string' ? transaction : withoutType(transaction),
      ),
      ...unknownMembers,
    }
    expect(lostMembers(wire, decode ? decodeBlock(wire, decode) : decodeBlock(wire))).toEqual([])
    const pending = { ...wire, hash: null, number: null, miner: null, nonce: null, logsBloom: null }
    expect(lostMembers(pending, decode ? decodePendingBlock(pending, decode) : decodePendingBlock(pending))).toEqual([])
  })

  test('a fee history', async () => {
    const wire = {
      oldestBlock: '0x5',
      baseFeePerGas: ['0x7', '0x8'],
      gasUsedRatio: [0.5],
      reward: [['0x1', '0x2']],
      baseFeePerBlobGas: ['0x1', '0x1'],
      blobGasUsedRatio: [0.25],
      ...unknownMembers,
    } as const
    const { gasUsedRatio, blobGasUsedRatio, ...rest } = wire
    const history = await getFeeHistory({ eth_feeHistory: async () => wire as never }, { blockCount: 1 })
    expect(history).toMatchObject({ gasUsedRatio, blobGasUsedRatio })
    expect(lostMembers(rest, history)).toEqual([])
  })
})

test('lostMembers reports what is missing and what changed', () => {
  expect(lostMembers({ v: '0x1', s: '0x2', list: [{ a: '0x1' }] }, { s: 3n, list: [{}] })).toEqual([
    '.v',
    '.s',
    '.list[0].a',
  ])
})
