import type {
  Address,
  RpcBlockWithHashes,
  RpcBlockWithTransactions,
  Hash,
  RpcLog,
  RpcReceipt,
  RpcTransaction,
} from '@keyrail/core'
import { concat, integerBytes, quantity, toHex } from '../bytes/hex.ts'
import { decodeRlp, encodeRlp } from '../bytes/rlp.ts'
import { bloomOf } from './bloom.ts'
import { blobFee, effectiveGasPrice, gasPerBlob } from './fees.ts'
import { headerParts, wireHeader } from './header.ts'
import type { Header } from './header.ts'
import type { LogEntry } from './logEntry.ts'
import type { PooledTransaction } from './transaction.ts'
import { wireTransaction } from './wireTransaction.ts'
import type { StateValue } from './worldState.ts'

/** How a transaction went. */
export interface Execution {
  readonly tx: PooledTransaction
  readonly ok: boolean
  readonly gasUsed: number
  /** Of this and all before it in the block. */
  readonly cumulativeGasUsed: number
  readonly contractAddress: Address | null
  readonly logs: readonly LogEntry[]
  /** The place of its first log among those of the block. */
  readonly firstLog: number
}

/** A mined block. Nothing in it changes once it is mined. */
export interface Block {
  readonly number: number
  readonly hash: Hash
  readonly header: Header
  readonly executions: readonly Execution[]
  /** What it changed in the state. */
  readonly changes: ReadonlyMap<string, StateValue>
  /** What a test changed by hand while it was the last one. */
  readonly byHand: ReadonlyMap<string, StateValue>
}

/** A receipt as it stands in the trie of the block. EIP-2718 and 658. */
export function encodeReceipt({ tx, ok, cumulativeGasUsed, logs }: Execution): Uint8Array {
  const entries = logs.map(({ address, topics, data }) => [address, topics, data])
  const list = encodeRlp([integerBytes(ok ? 1 : 0), integerBytes(cumulativeGasUsed), bloomOf(logs), entries])
  return tx.type === 0 ? list : concat(Uint8Array.of(tx.type), list)
}

/** A whole block in RLP, with its transactions; uncles and withdrawals there are none. */
export function encodeBlock({ header, executions }: Block): Uint8Array {
  // A legacy transaction is a list, and stands in the body as one; the bytes of any other are one item.
  const transactions = executions.map(({ tx }) => (tx.type === 0 ? decodeRlp(tx.raw) : tx.raw))
  return encodeRlp([headerParts(header), transactions, [], []])
}

/** A block as nodes give it. */
export function wireBlock(block: Block, hydrated: boolean): RpcBlockWithHashes | RpcBlockWithTransactions {
  const common = {
    ...wireHeader(block.header, block.hash),
    size: quantity(encodeBlock(block).length),
    uncles: [],
    withdrawals: [],
  }
  return hydrated
    ? {
        ...common,
        transactions: block.executions.map(({ tx }, index) => wireTransaction(tx, { block, index }) as RpcTransaction),
      }
    : { ...common, transactions: block.executions.map(({ tx }) => tx.hash) }
}

/** A log as nodes give it, with its place. */
export function wireLog(block: Block, index: number, at: number, removed = false): RpcLog {
  const { tx, logs, firstLog } = block.executions[index] as Execution
  const { address, topics, data } = logs[at] as LogEntry
  return {
    address,
    topics: topics as Hash[],
    data,
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    blockTimestamp: quantity(block.header.timestamp),
    transactionHash: tx.hash,
    transactionIndex: quantity(index),
    logIndex: quantity(firstLog + at),
    removed,
  }
}

/** A receipt as nodes give it. */
export function wireReceipt(block: Block, index: number): RpcReceipt {
  const { tx, ok, gasUsed, cumulativeGasUsed, contractAddress, logs } = block.executions[index] as Execution
  return {
    transactionHash: tx.hash,
    transactionIndex: quantity(index),
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    from: tx.from,
    to: tx.to,
    contractAddress,
    type: quantity(tx.type),
    status: ok ? '0x1' : '0x0',
    gasUsed: quantity(gasUsed),
    cumulativeGasUsed: quantity(cumulativeGasUsed),
    effectiveGasPrice: quantity(effectiveGasPrice(tx, block.header.baseFee)),
    logs: logs.map((_, at) => wireLog(block, index, at)),
    logsBloom: toHex(bloomOf(logs)),
    ...(tx.type === 3 && {
      blobGasUsed: quantity(gasPerBlob * tx.blobHashes.length),
      blobGasPrice: quantity(blobFee),
    }),
  }
}
