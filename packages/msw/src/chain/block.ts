import type { Address, Hash, RpcLog, RpcReceipt, RpcTransaction } from '@keyrail/core'
import type { RpcBlockWithHashes, RpcBlockWithTransactions } from '@keyrail/core/schema'
import { concat, toIntegerBytes, toQuantity, toHex } from '../bytes/hex.ts'
import { decodeRlp, encodeRlp } from '../bytes/rlp.ts'
import { createBloom } from './bloom.ts'
import { blobFee, effectiveGasPrice, gasPerBlob } from './fees.ts'
import { headerParts, wireHeader } from './header.ts'
import type { Header } from './header.ts'
import type { LogEntry } from './logEntry.ts'
import type { PooledTransaction } from './transaction.ts'
import { wireTransaction } from './wireTransaction.ts'
import type { StateValue } from './worldState.ts'

/** The outcome of a transaction. */
export interface Execution {
  readonly tx: PooledTransaction
  readonly ok: boolean
  readonly gasUsed: number
  /** The gas of this transaction and all before it in the block. */
  readonly cumulativeGasUsed: number
  readonly contractAddress: Address | null
  readonly logs: readonly LogEntry[]
  /** The index of its first log in the block. */
  readonly firstLog: number
}

/** A mined block. It is immutable. */
export interface Block {
  readonly number: number
  readonly hash: Hash
  readonly header: Header
  readonly executions: readonly Execution[]
  /** The state changes of its transactions. */
  readonly changes: ReadonlyMap<string, StateValue>
  /** The state that the test set, with `setBalance` and the like, while this was the latest block. */
  readonly overrides: ReadonlyMap<string, StateValue>
}

/** Encodes a receipt for the receipts trie. EIP-2718 and 658. */
export function encodeReceipt({ tx, ok, cumulativeGasUsed, logs }: Execution): Uint8Array {
  const entries = logs.map(({ address, topics, data }) => [address, topics, data])
  const list = encodeRlp([toIntegerBytes(ok ? 1 : 0), toIntegerBytes(cumulativeGasUsed), createBloom(logs), entries])
  return tx.type === 0 ? list : concat(Uint8Array.of(tx.type), list)
}

/** Encodes a block with its transactions in RLP. It has no uncles or withdrawals. */
export function encodeBlock({ header, executions }: Block): Uint8Array {
  // A legacy transaction is a list in the body of the block; any other is a byte string.
  const transactions = executions.map(({ tx }) => (tx.type === 0 ? decodeRlp(tx.raw) : tx.raw))
  return encodeRlp([headerParts(header), transactions, [], []])
}

/** Formats a block as JSON-RPC does. */
export function wireBlock(block: Block, hydrated: boolean): RpcBlockWithHashes | RpcBlockWithTransactions {
  const common = {
    ...wireHeader(block.header, block.hash),
    size: toQuantity(encodeBlock(block).length),
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

/** Formats a log as JSON-RPC does. */
export function wireLog(block: Block, index: number, at: number, removed = false): RpcLog {
  const { tx, logs, firstLog } = block.executions[index] as Execution
  const { address, topics, data } = logs[at] as LogEntry
  return {
    address,
    topics: topics as Hash[],
    data,
    blockHash: block.hash,
    blockNumber: toQuantity(block.number),
    blockTimestamp: toQuantity(block.header.timestamp),
    transactionHash: tx.hash,
    transactionIndex: toQuantity(index),
    logIndex: toQuantity(firstLog + at),
    removed,
  }
}

/** Formats a receipt as JSON-RPC does. */
export function wireReceipt(block: Block, index: number): RpcReceipt {
  const { tx, ok, gasUsed, cumulativeGasUsed, contractAddress, logs } = block.executions[index] as Execution
  return {
    transactionHash: tx.hash,
    transactionIndex: toQuantity(index),
    blockHash: block.hash,
    blockNumber: toQuantity(block.number),
    from: tx.from,
    to: tx.to,
    contractAddress,
    type: toQuantity(tx.type),
    status: ok ? '0x1' : '0x0',
    gasUsed: toQuantity(gasUsed),
    cumulativeGasUsed: toQuantity(cumulativeGasUsed),
    effectiveGasPrice: toQuantity(effectiveGasPrice(tx, block.header.baseFee)),
    logs: logs.map((_, at) => wireLog(block, index, at)),
    logsBloom: toHex(createBloom(logs)),
    ...(tx.type === 3 && {
      blobGasUsed: toQuantity(gasPerBlob * tx.blobHashes.length),
      blobGasPrice: toQuantity(blobFee),
    }),
  }
}
