import type { Address, EndpointUrlOptions, Hash, Hex } from '@keyrail/core'
import type { Bytes } from '@keyrail/core/schema'
import type { HttpHandler, WebSocketHandler } from 'msw'
import type { Abi, AbiInterface } from './abi/abi.ts'
import type { ContractHandlers, MockContract, RawHandlers } from './abi/contract.ts'
import type { MockAccount } from './chain/createAccounts.ts'
import type { FaultKind, FaultOptions, FaultResponse } from './faults/fault.ts'
import type { ProviderName } from './faults/providers.ts'
import type { ReceivedCall } from './receivedCall.ts'
import type { DisconnectOptions } from './socket/createSocketServer.ts'
import type { NotificationFault, NotificationFaultOptions } from './socket/notificationFaults.ts'

/** Limits that replace those of the provider. */
export interface MockLimits {
  /** The maximum number of calls in a batch. */
  readonly maxBatch?: number | undefined
  /** The maximum block range of `eth_getLogs`. */
  readonly maxLogBlocks?: number | undefined
  /** The maximum number of logs in a response to `eth_getLogs`. */
  readonly maxLogs?: number | undefined
}

/** Options of a mock node, besides its endpoint. */
export interface MockChainOptions {
  /** The provider whose limits and error responses the node imitates. @default 'keyrail' */
  readonly provider?: ProviderName | undefined
  /** Replaces some limits of the provider. */
  readonly limits?: MockLimits | undefined
  /** Determines the keys of the accounts and the hashes of the blocks. @default 'keyrail' */
  readonly seed?: string | undefined
  /** The timestamp of the first block, in seconds since 1970. @default 1_700_000_000 */
  readonly timestamp?: number | undefined
  /** The time between two blocks, in seconds. @default 12 */
  readonly blockTime?: number | undefined
  /** Whether to mine a block for each transaction. If false, transactions wait for `mine()` or `advanceTime()`. @default true */
  readonly automine?: boolean | undefined
}

/**
 * Options of {@link createMockNode}: an endpoint in the form that the SDK takes, or several as `endpoints`, and the behavior of the node.
 * `chainId` is the chain id of the node, 31337 by default. For several chains create a node for each: their handlers work in one server.
 */
export type MockNodeOptions = (EndpointUrlOptions | { readonly endpoints: readonly EndpointUrlOptions[] }) &
  MockChainOptions

/** A log to emit. */
export interface MockLog {
  readonly address: Address
  /** At most four. @default [] */
  readonly topics?: readonly Hash[] | undefined
  /** @default '0x' */
  readonly data?: Bytes | undefined
}

/** A node that a test controls. */
export interface MockNode {
  /** Pass them to `setupServer(...node.handlers)` or `setupWorker(...node.handlers)` of msw. */
  readonly handlers: (HttpHandler | WebSocketHandler)[]
  /** The chain id, as in the response to `eth_chainId`. */
  readonly chainId: number
  /**
   * Ten accounts with 10,000 ether each. `eth_sendTransaction` signs for them. Their keys are public.
   * Their addresses have the checksum of EIP-55.
   */
  readonly accounts: readonly MockAccount[]
  /** The provider whose limits and error responses the node imitates. You can change it at any time. */
  provider: ProviderName

  /** Returns the number of the latest block. */
  readonly blockNumber: () => number
  /** Mines blocks. The first one includes the pending transactions. @param count - 1 or more. @default 1 */
  readonly mine: (count?: number) => void
  /** Advances the node's clock, and mines each block that becomes due. @param seconds - An integer of 0 or more. */
  readonly advanceTime: (seconds: number) => void
  /** Sets the timestamp of the next block. @param timestamp - In seconds since 1970, after the latest block. */
  readonly setNextBlockTimestamp: (timestamp: number) => void
  /**
   * Replaces the latest blocks with as many empty blocks. Their transactions become pending again, unless they are dropped.
   * @param depth - How many blocks, 1 or more.
   * @param options.drop - Whether to drop the transactions. @default false
   */
  readonly reorg: (depth: number, options?: { readonly drop?: boolean }) => void
  /** Saves the chain, its state and the pending transactions. @returns the id to pass to `revert`. */
  readonly snapshot: () => string
  /** Restores a snapshot. This deletes the snapshot and all later ones. */
  readonly revert: (snapshot: string) => void
  /** Resets the node to its initial state: one block, no contracts, no faults, no received calls. */
  readonly reset: () => void

  /** Sets a balance, in wei. */
  readonly setBalance: (address: Address, wei: bigint) => void
  /** Sets the nonce of an account. */
  readonly setNonce: (address: Address, nonce: number) => void
  /** Sets the code that `eth_getCode` returns. The node does not run it: use `mockContract` to define what a contract does. */
  readonly setCode: (address: Address, code: Bytes) => void
  /** Sets a storage slot. Numbers and shorter hex are padded with zeros on the left. */
  readonly setStorageAt: (address: Address, slot: bigint | number | Hex, value: bigint | number | Hex) => void

  /**
   * Defines a contract by its ABI (JSON, or an `Interface` of ethers) and one handler for each function. It replaces an earlier definition.
   * Handlers are synchronous. A function without a handler reverts; the reason, and a warning in the console, name the function.
   * @example
   * const node = createMockNode({ url: 'http://127.0.0.1:8545' })
   * const uint = [{ type: 'uint256' }] as const
   * const abi = [{ type: 'function', name: 'totalSupply', inputs: [], outputs: uint, stateMutability: 'view' }] as const
   * node.mockContract('0x00000000219ab540356cbb839cbe05303d7705fa', abi, { totalSupply: () => 5n })
   */
  mockContract: {
    <const A extends Abi>(address: Address, abi: A, handlers: ContractHandlers<A>): MockContract<A>
    (address: Address, abi: AbiInterface, handlers: ContractHandlers<AbiInterface>): MockContract<AbiInterface>
    /** Defines a contract without an ABI: one handler for all calls, or one for each selector. Handlers take and return bytes. */
    (address: Address, handlers: RawHandlers): void
  }
  /**
   * Defines the response to an RPC method, in place of the node's own. If the handler throws an error with a numeric `code`, the call fails with it.
   * @example
   * const node = createMockNode({ url: 'http://127.0.0.1:8545' })
   * node.mockMethod('my_score', ([user]) => ({ user, score: 5 }))
   */
  readonly mockMethod: (method: string, handler: (params: readonly unknown[]) => unknown) => void
  /** Emits logs in a transaction that the node sends itself. @returns the hash of the transaction. */
  readonly emit: (logs: MockLog | readonly MockLog[]) => Hash

  /**
   * Makes the next calls fail, with a kind of failure or a custom response. Faults apply in the order in which they were added.
   * @returns a function that cancels the fault.
   * @throws {KeyrailError} kind `invalidRequest` for an unknown kind or a wrong option.
   * @example
   * const node = createMockNode({ url: 'http://127.0.0.1:8545' })
   * node.fail('throttled', { times: 2, retryAfterMs: 50 })
   */
  readonly fail: (kind: FaultKind | FaultResponse, options?: FaultOptions) => () => void
  /**
   * Makes the next notifications of subscriptions go wrong.
   * @param fault - `drop` never sends it, `duplicate` sends it twice, `delay` sends it late, `swap` sends it after the one that follows.
   * @returns a function that cancels the fault.
   * @throws {KeyrailError} kind `invalidRequest` for an unknown fault or a wrong option.
   * @example
   * const node = createMockNode({ url: 'http://127.0.0.1:8545' })
   * node.failNotifications('drop', { subscription: 'newHeads' })
   */
  readonly failNotifications: (fault: NotificationFault, options?: NotificationFaultOptions) => () => void
  /**
   * Ends all WebSocket connections. Clients may connect again at once; they miss what happens on the chain until then.
   * @param options - The close code, 1006 by default, and its reason.
   * @example
   * const node = createMockNode({ url: 'http://127.0.0.1:8545' })
   * node.disconnect()
   * node.reorg(1)
   */
  readonly disconnect: (options?: DisconnectOptions) => void
  /** Returns the number of open WebSocket connections. */
  readonly connections: () => number
  /** Cancels all faults. Requests that hang end with a network error. */
  readonly clearFaults: () => void
  /** Lists the calls that the node received, in order. @param method - Only calls of this method. */
  readonly calls: (method?: string) => readonly ReceivedCall[]
}
