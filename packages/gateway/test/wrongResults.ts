import { result } from './fakeUpstream.ts'
import type { Behaviour } from './fakeUpstream.ts'
import { newHash } from './nodeFailures.ts'
import type { NodeFailure } from './nodeFailures.ts'

const other = `0x${'ee'.repeat(32)}`
const sender = `0x${'a1'.repeat(20)}`
const stranger = `0x${'b2'.repeat(20)}`
const topic = (digit: string): string => `0x${digit.repeat(64)}`

/** Responds with one result for all calls. */
const always =
  (value: unknown): Behaviour =>
  (call) =>
    result(call, JSON.stringify(value))

const log = (more: object): object => ({
  address: sender,
  topics: [topic('a'), topic('b')],
  blockNumber: '0x60',
  transactionIndex: '0x0',
  logIndex: '0x0',
  ...more,
})
const range = { address: sender, fromBlock: '0x5f', toBlock: '0x61' }

/** A failure of `eth_getLogs`. @param number - Makes the filter of each call another one. */
const logs = (name: string, found: readonly object[], filter: object = range): NodeFailure => ({
  name,
  behave: always(found.map(log)),
  method: 'eth_getLogs',
  params: () => [filter],
})

const byHash = (): unknown[] => [newHash()]

/**
 * Ways in which a node sends a valid result that is not the one that was requested. Most are kinds of mistakes that eRPC's tests of integrity have too:
 * architecture/evm/integrity of erpc/erpc, `checks_identity_test.go`, `checks_getlogs_test.go` and `checks_receipts_test.go`.
 */
export const wrongResults: readonly NodeFailure[] = [
  {
    name: 'it has another transaction for a hash',
    behave: always({ hash: other, from: sender, blockHash: other, blockNumber: '0x10' }),
    method: 'eth_getTransactionByHash',
    params: byHash,
  },
  {
    name: 'it has another transaction at an index of a block by its number',
    behave: always({ hash: other, blockNumber: '0x60', transactionIndex: '0x2' }),
    method: 'eth_getTransactionByBlockNumberAndIndex',
    params: () => ['0x60', '0x1'],
  },
  {
    name: 'it has a transaction of another block number',
    behave: always({ hash: other, blockNumber: '0x5f', transactionIndex: '0x1' }),
    method: 'eth_getTransactionByBlockNumberAndIndex',
    params: () => ['0x60', '0x1'],
  },
  {
    name: 'it has a transaction of another block hash',
    behave: always({ hash: other, blockHash: other, transactionIndex: '0x1' }),
    method: 'eth_getTransactionByBlockHashAndIndex',
    params: () => [newHash(), '0x1'],
  },
  {
    name: 'it has the receipt of another transaction',
    behave: always({ transactionHash: other, blockHash: other, blockNumber: '0x10', logs: [] }),
    method: 'eth_getTransactionReceipt',
    params: byHash,
  },
  {
    name: 'it has another block for a hash',
    behave: always({ hash: other, number: '0x10', transactions: [] }),
    method: 'eth_getBlockByHash',
    params: () => [newHash(), false],
  },
  {
    name: 'it has another header for a hash',
    behave: always({ hash: other, number: '0x10' }),
    method: 'eth_getHeaderByHash',
    params: byHash,
  },
  {
    name: 'it has another block for a number',
    behave: always({ hash: other, number: '0x5f', transactions: [] }),
    method: 'eth_getBlockByNumber',
    params: () => ['0x60', false],
  },
  {
    name: 'it has another header for a number',
    behave: always({ hash: other, number: '0x61' }),
    method: 'eth_getHeaderByNumber',
    params: () => ['0x60'],
  },
  {
    name: 'it has receipts of another block number',
    behave: always([{ blockNumber: '0x61', transactionHash: other, logs: [] }]),
    method: 'eth_getBlockReceipts',
    params: () => ['0x60'],
  },
  {
    name: 'one of its receipts is of another block',
    behave: always([
      { blockNumber: '0x60', transactionHash: other, logs: [] },
      { blockNumber: '0x61', transactionHash: topic('1'), logs: [] },
    ]),
    method: 'eth_getBlockReceipts',
    params: () => ['0x60'],
  },
  {
    name: 'it has receipts of another block hash',
    behave: always([{ blockHash: other, transactionHash: other, logs: [] }]),
    method: 'eth_getBlockReceipts',
    params: () => [{ blockHash: newHash() }],
  },
  logs('it has a log of another address', [{ address: stranger }]),
  logs('it has a log of an address that is not in the list', [{ address: stranger }], {
    ...range,
    address: [sender, topic('c').slice(0, 42)],
  }),
  logs('it has a log before the range', [{ blockNumber: '0x5e' }]),
  logs('it has a log after the range', [{ blockNumber: '0x62' }]),
  logs('its last log is outside the range', [{}, { blockNumber: '0x61' }, { blockNumber: '0x62' }]),
  {
    name: 'it has a log of another block hash',
    behave: always([log({ blockHash: other })]),
    method: 'eth_getLogs',
    params: () => [{ blockHash: newHash() }],
  },
  logs('it has a log with another first topic', [{}], { ...range, topics: [topic('c')] }),
  logs('it has a log with another second topic', [{}], { ...range, topics: [null, topic('c')] }),
  logs('it has a log with the right first topic and another second one', [{}], {
    ...range,
    topics: [topic('a'), topic('d')],
  }),
  logs('it has a log with a topic that is not in the list', [{}], { ...range, topics: [[topic('c'), topic('d')]] }),
  logs('it has a log with too few topics', [{ topics: [topic('a')] }], { ...range, topics: [topic('a'), topic('b')] }),
  logs('it has a log twice', [{}, {}]),
  logs('its logs are not in the order of blocks', [{ blockNumber: '0x61' }, { blockNumber: '0x60' }]),
  logs('its logs are not in the order of a block', [{ logIndex: '0x2' }, { logIndex: '0x1' }]),
]
