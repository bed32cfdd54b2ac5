import type { Address, AddressOptions, Bytes, Hash, Hex } from '@keyrail/core'
import type { HttpHandler } from 'msw'
import type { Abi, AbiInterface } from './abi/abi.ts'
import type { ContractHandlers, MockContract, RawHandlers } from './abi/contract.ts'
import type { SeenCall } from './calls.ts'
import type { MockAccount } from './chain/accountsOf.ts'
import type { Personality } from './faults/dialects.ts'
import type { FaultAnswer, FaultKind, FaultOptions, Misbehaviour } from './faults/fault.ts'

/** What of a provider's limits is another than its personality has. */
export interface MockLimits {
  /** The most calls in a batch. */
  readonly maxBatch?: number | undefined
  /** The most blocks that `eth_getLogs` looks through. */
  readonly maxLogBlocks?: number | undefined
  /** The most logs that it gives. */
  readonly maxLogs?: number | undefined
}

/** What a mock node is, beside its address. */
export interface MockChainOptions {
  /** Whose words it uses when it refuses something, and whose limits it has. @default 'keyrail' */
  readonly personality?: Personality | undefined
  /** What differs from the limits of the personality. */
  readonly limits?: MockLimits | undefined
  /** Keys of its accounts and hashes of its blocks follow from it. @default 'keyrail' */
  readonly seed?: string | undefined
  /** The time of its first block, in seconds since 1970. @default 1_700_000_000 */
  readonly timestamp?: number | undefined
  /** How far its blocks are apart, in seconds. @default 12 */
  readonly blockTime?: number | undefined
  /** Whether each transaction gets a block at once; else it waits for `mine()` or `advance()`. @default true */
  readonly automine?: boolean | undefined
}

/**
 * The address of a mock node, the same options as the SDK takes, or several of them; and what kind of node it is.
 * Its chain id is `chainId` of the address. @default 31337
 */
export type MockNodeOptions = (AddressOptions | { readonly endpoints: readonly AddressOptions[] }) & MockChainOptions

/** A log that a test has emitted. */
export interface MockLog {
  readonly address: Address
  /** @default none */
  readonly topics?: readonly Hash[] | undefined
  /** @default '0x' */
  readonly data?: Bytes | undefined
}

/** A node that a test drives. */
export interface MockNode {
  /** For `setupServer(...node.handlers)` and `setupWorker(...node.handlers)` of msw. */
  readonly handlers: HttpHandler[]
  /** As it answers `eth_chainId`. */
  readonly chainId: number
  /**
   * Ten accounts with 10,000 ether each, which `eth_sendTransaction` signs for. Their keys are no secret.
   * Their addresses have the checksum of EIP-55.
   */
  readonly accounts: readonly MockAccount[]
  /** May be changed at any time. */
  personality: Personality

  /** The number of the last block. */
  readonly blockNumber: () => number
  /** Mines blocks: what waits goes into the first. @param count - 1 or more. @default 1 */
  readonly mine: (count?: number) => void
  /** Lets the node's clock go on, by whole seconds, and mines a block whenever one is due. */
  readonly advance: (seconds: number) => void
  /** Gives the next block a time, in seconds since 1970. */
  readonly setTime: (timestamp: number) => void
  /**
   * Replaces the last blocks by as many others, which are empty. What stood in them waits for the next block, unless it is dropped.
   * @param depth - How many blocks, from 1.
   * @param options.drop - Forgets the transactions instead. @default false
   */
  readonly reorg: (depth: number, options?: { readonly drop?: boolean }) => void
  /** Remembers the chain with its state and its waiting transactions. @returns what `revert` takes. */
  readonly snapshot: () => string
  /** Goes back to a snapshot, which is used up by that, and so are later ones. */
  readonly revert: (snapshot: string) => void
  /** Makes the node as it was made: one block, no contracts, no faults, no calls. */
  readonly reset: () => void

  /** Sets a balance, in wei. */
  readonly setBalance: (address: Address, wei: bigint) => void
  /** Sets how many transactions an account has sent. */
  readonly setNonce: (address: Address, nonce: number) => void
  /** Sets the code of an account. It is shown, and not run: handlers of `onCall` are. */
  readonly setCode: (address: Address, code: Bytes) => void
  /** Sets what a slot holds; numbers and shorter hex fill it from the left with zeros. */
  readonly setStorage: (address: Address, slot: bigint | number | Hex, value: bigint | number | Hex) => void

  /**
   * Answers calls and transactions to an address, by an ABI in JSON or an `Interface` of ethers, in place of what answered there before.
   * Handlers are synchronous. A function without a handler reverts; the reason, and a warning in the console, say which handler to add.
   */
  onCall: {
    <const A extends Abi>(address: Address, abi: A, handlers: ContractHandlers<A>): MockContract<A>
    (address: Address, abi: AbiInterface, handlers: ContractHandlers<AbiInterface>): MockContract<AbiInterface>
    /** The same in bytes: one handler, or one for each selector. */
    (address: Address, handlers: RawHandlers): void
  }
  /** Answers a method that the node has not, or has otherwise. What the handler throws with a numeric `code` is an error of the node. */
  readonly onMethod: (method: string, handler: (params: readonly unknown[]) => unknown) => void
  /** Has logs emitted, by one transaction of the node's own. @returns the hash of the transaction. */
  readonly emit: (logs: MockLog | readonly MockLog[]) => Hash

  /**
   * Has the next calls fail: with a kind of failure, in the words of a provider; with a wrong form; or with an answer word by word.
   * Faults happen in the order in which they were wanted.
   * @returns what takes it back.
   * @throws {KeyrailError} kind `invalidRequest` for what is no fault.
   */
  readonly fail: (kind: FaultKind | Misbehaviour | FaultAnswer, options?: FaultOptions) => () => void
  /** Takes all faults back; what hangs breaks off. */
  readonly heal: () => void
  /** What it was asked, in order, and how it answered. @param method - Only calls of this method. */
  readonly calls: (method?: string) => readonly SeenCall[]
}
