import type { Hex, RpcLog, RpcReceipt } from '../src/index.ts'
import type {
  RpcBlockWithHashes,
  DynamicFeeFields,
  SignedLegacyTransaction,
  TransactionLocation,
  TypedSignature,
} from '../src/schema/index.ts'

/** Hex that repeats a byte. */
export const repeatByte = (byte: string, bytes: number): Hex => `0x${byte.repeat(bytes)}`

/** A mined legacy transaction as a node sends it. */
export const wireTransaction: TransactionLocation & SignedLegacyTransaction = {
  type: '0x0',
  hash: repeatByte('a1', 32),
  from: repeatByte('f0', 20),
  to: repeatByte('70', 20),
  nonce: '0x7',
  gas: '0x5208',
  gasPrice: '0x3b9aca00',
  value: '0xde0b6b3a7640000',
  input: '0x',
  blockHash: repeatByte('b1', 32),
  blockNumber: '0x2a',
  transactionIndex: '0x3',
  v: '0x25',
  r: '0x1',
  s: '0x2',
}

/** The further members of a transaction with a fee market. */
export const wireFeeMarket: Pick<
  DynamicFeeFields & TypedSignature,
  'accessList' | 'chainId' | 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'v' | 'yParity'
> = {
  chainId: '0x1',
  maxFeePerGas: '0x77359400',
  maxPriorityFeePerGas: '0x1',
  accessList: [{ address: repeatByte('70', 20), storageKeys: [repeatByte('00', 32)] }],
  v: '0x1',
  yParity: '0x1',
}

/** A log as a node sends it. */
export const wireLog: RpcLog = {
  address: repeatByte('c0', 20),
  topics: [repeatByte('e1', 32)],
  data: '0x2a',
  blockHash: repeatByte('b1', 32),
  blockNumber: '0x2a',
  transactionHash: repeatByte('a1', 32),
  transactionIndex: '0x3',
  logIndex: '0x9',
  removed: false,
}

/** A receipt as a node sends it. */
export const wireReceipt: RpcReceipt = {
  type: '0x2',
  status: '0x1',
  transactionHash: repeatByte('a1', 32),
  transactionIndex: '0x3',
  blockHash: repeatByte('b1', 32),
  blockNumber: '0x2a',
  from: repeatByte('f0', 20),
  to: repeatByte('70', 20),
  contractAddress: null,
  gasUsed: '0x5208',
  cumulativeGasUsed: '0xa410',
  effectiveGasPrice: '0x3b9aca00',
  logs: [wireLog],
  logsBloom: repeatByte('00', 256),
}

/** A block as a node sends it, from before every fork that adds a field. */
export const wireBlock: RpcBlockWithHashes = {
  hash: repeatByte('b1', 32),
  parentHash: repeatByte('b0', 32),
  sha3Uncles: repeatByte('11', 32),
  miner: repeatByte('22', 20),
  stateRoot: repeatByte('33', 32),
  transactionsRoot: repeatByte('44', 32),
  receiptsRoot: repeatByte('55', 32),
  logsBloom: repeatByte('00', 256),
  number: '0x2a',
  gasLimit: '0x1c9c380',
  gasUsed: '0x5208',
  timestamp: '0x6553f100',
  extraData: '0x',
  mixHash: repeatByte('66', 32),
  nonce: repeatByte('00', 8),
  size: '0x221',
  uncles: [],
  transactions: [repeatByte('a1', 32)],
}
