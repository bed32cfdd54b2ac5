import type { MinedBlockNumberOrTag } from './blockTag.ts'
import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/**
 * An event of a contract. Source: execution-apis, `Log`.
 * The specification requires `transactionHash` alone; every node sends the fields that are required here.
 */
export interface RpcLog {
  address: Address
  topics: Hash[]
  data: Bytes
  blockHash: Hash
  blockNumber: Quantity
  transactionHash: Hash
  transactionIndex: Quantity
  logIndex: Quantity
  /** `true` if a reorganisation took the log out of the chain. */
  removed?: boolean
  /** Older nodes do not send it. */
  blockTimestamp?: Quantity
}

/** A condition on a topic: any value, one value, or one of several. Source: execution-apis, `FilterTopic`. */
export type LogFilterTopic = Hash | readonly Hash[] | null

/** Conditions on the logs themselves. */
export interface LogFilterFields {
  /** Logs of this contract, or of any of these. */
  address?: Address | readonly Address[] | null | undefined
  /** By position. */
  topics?: readonly LogFilterTopic[] | null | undefined
}

/** Logs in a range of blocks, both ends included. Source: execution-apis, `Filter`. */
export interface LogRangeFilter extends LogFilterFields {
  /** @default 'latest' */
  fromBlock?: MinedBlockNumberOrTag | undefined
  /** @default 'latest' */
  toBlock?: MinedBlockNumberOrTag | undefined
  blockHash?: undefined
}

/** Logs of one block by its hash. Source: EIP-234. */
export interface LogBlockFilter extends LogFilterFields {
  blockHash: Hash
  fromBlock?: undefined
  toBlock?: undefined
}

/** The logs to return: of a range of blocks, or of one block by hash. Source: execution-apis, `Filter`. */
export type LogFilter = LogRangeFilter | LogBlockFilter

/** Reads of logs. */
export interface LogMethods {
  /** All logs that match. Source: execution-apis, eth/filter. */
  eth_getLogs(filter: LogFilter): Promise<RpcLog[]>
}
