import type { Address, Hex } from '@keyrail/core'
import type { BlockIdentifier, Bytes } from '@keyrail/core/schema'
import { lower } from '../bytes/hex.ts'
import type { Block } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { Execute } from '../chain/message.ts'
import { serverError } from './rpcError.ts'
import type { ParamRules } from './checkParams.ts'

/** The state of the node that methods read. */
export interface NodeView {
  readonly chain: Chain
  readonly execute: Execute
  /** How many blocks the head is behind, for the fault `laggingHead`. */
  readonly lag: number
  /** The chain id to report, another one for the fault `wrongChain`. */
  readonly claimedChainId: number
  /** Whether `mockContract` defined a contract at an address. */
  readonly isContract: (address: Address) => boolean
  readonly limits: { readonly maxLogBlocks: number; readonly maxLogs: number }
  /** Creates the provider's error for a range of logs that is too large. */
  readonly createRangeError: (fromBlock: number, toBlock: number) => Error
}

/** An RPC method: the types of its params, and its implementation. */
export interface Method {
  readonly params: ParamRules
  readonly handle: (params: readonly unknown[], view: NodeView) => unknown
}

/** Defines a method. The params are checked before `handle` is called. */
export function method<P extends readonly unknown[]>(
  params: ParamRules,
  handle: (view: NodeView, ...params: P) => unknown,
): Method {
  return { params, handle: (given, view) => handle(view, ...(given as P)) }
}

/** The number of the latest block that the node reports. */
export function getHead({ chain, lag }: NodeView): number {
  return Math.max(0, chain.height() - lag)
}

/** The number of a block; undefined if it does not exist. `pending` is the latest one. */
export function resolveBlockNumber(view: NodeView, given: BlockIdentifier = 'latest'): number | undefined {
  const head = getHead(view)
  if (typeof given === 'object') {
    if (given.blockNumber !== undefined) return resolveBlockNumber(view, given.blockNumber)
    return resolveBlockHash(view, given.blockHash as Hex)
  }
  if (given.length === 66) return resolveBlockHash(view, given as Hex)
  if (given === 'earliest') return 0
  if (given === 'safe') return Math.max(0, head - 32)
  if (given === 'finalized') return Math.max(0, head - 64)
  const number = given === 'latest' || given === 'pending' ? head : Number(given)
  return number <= head ? number : undefined
}

function resolveBlockHash(view: NodeView, hash: Hex): number | undefined {
  const number = view.chain.blockByHash(lower(hash))?.number
  return number !== undefined && number <= getHead(view) ? number : undefined
}

/** Finds a block; undefined if it does not exist. */
export function resolveBlock(view: NodeView, given?: BlockIdentifier): Block | undefined {
  const number = resolveBlockNumber(view, given)
  return number === undefined ? undefined : view.chain.block(number)
}

/**
 * The number of the block whose state to read.
 *
 * @throws {RpcError} if the block does not exist.
 */
export function resolveStateBlock(view: NodeView, given?: BlockIdentifier): number {
  const number = resolveBlockNumber(view, given)
  if (number === undefined) throw serverError('header not found')
  return number
}

/** The data of a call, named `input` or `data`. */
export function getInput(call: { readonly input?: Bytes | undefined; readonly data?: Bytes | undefined }): Bytes {
  return lower(call.input ?? call.data ?? '0x')
}
