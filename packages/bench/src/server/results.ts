import { createHash } from 'node:crypto'

let drawn = 0
/** Hex digits that do not repeat, the same in each run, so that results are as large as real ones. */
const hex = (bytes: number): string => {
  let digits = ''
  while (digits.length < bytes * 2) digits += createHash('sha256').update(String(drawn++)).digest('hex')
  return '0x' + digits.slice(0, bytes * 2)
}
const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

const transaction = (n: number): object => ({
  accessList: [],
  blockHash: hex(32),
  blockNumber: '0x134f2d1',
  chainId: '0x1',
  from: hex(20),
  gas: '0x5208',
  gasPrice: '0x2540be400',
  hash: hex(32),
  input: hex(136),
  maxFeePerGas: '0x3b9aca000',
  maxPriorityFeePerGas: '0x3b9aca00',
  nonce: '0x1f',
  r: hex(32),
  // Below half of the curve's order: libraries reject the other half.
  s: `0x1${hex(32).slice(3)}`,
  to: hex(20),
  transactionIndex: `0x${n.toString(16)}`,
  type: '0x2',
  v: '0x1',
  value: '0x16345785d8a0000',
  yParity: '0x1',
})

const block = (transactions: readonly unknown[]): object => ({
  baseFeePerGas: '0x2540be400',
  difficulty: '0x0',
  extraData: '0x6265617665726275696c642e6f7267',
  gasLimit: '0x1c9c380',
  gasUsed: '0xe4e1c0',
  hash: hex(32),
  logsBloom: hex(256),
  miner: hex(20),
  mixHash: hex(32),
  nonce: '0x0000000000000000',
  number: '0x134f2d1',
  parentHash: hex(32),
  receiptsRoot: hex(32),
  sha3Uncles: hex(32),
  size: '0x2a1b3',
  stateRoot: hex(32),
  timestamp: '0x66a1b2c3',
  totalDifficulty: '0xc70d815d562d3cfa955',
  transactions,
  transactionsRoot: hex(32),
  uncles: [],
  withdrawals: many(16, (n) => ({
    address: hex(20),
    amount: '0x11e1a300',
    index: `0x${n.toString(16)}`,
    validatorIndex: '0x8d1f2',
  })),
})

const log = (n: number): object => ({
  address: hex(20),
  blockHash: hex(32),
  blockNumber: '0x134f2d1',
  data: hex(32),
  logIndex: `0x${n.toString(16)}`,
  removed: false,
  topics: [hex(32), hex(32), hex(32)],
  transactionHash: hex(32),
  transactionIndex: `0x${(n % 180).toString(16)}`,
})

/** Creates the results of the server by method, as JSON text: by hash a block with hashes (17 kB), by number one with its transactions (190 kB). */
export function createResults(): Readonly<Record<string, string>> {
  const results = {
    eth_chainId: '0x1',
    net_version: '1',
    eth_blockNumber: '0x134f2d1',
    eth_getBalance: '0x1bc16d674ec80000',
    eth_getBlockByHash: block(many(198, () => hex(32))),
    eth_getBlockByNumber: block(many(194, transaction)),
    eth_getLogs: many(8_600, log),
  }
  return Object.fromEntries(Object.entries(results).map(([method, result]) => [method, JSON.stringify(result)]))
}
