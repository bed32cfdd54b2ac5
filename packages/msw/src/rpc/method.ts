import type { Address, BlockIdentifier, Bytes, Hex } from '@keyrail/core'
import { lower } from '../bytes/hex.ts'
import type { Block } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { Execute } from '../chain/message.ts'
import { failed } from './rpcFailure.ts'
import type { ParamRules } from './checkParams.ts'

/** What methods answer from. */
export interface NodeView {
  readonly chain: Chain
  readonly execute: Execute
  /** How many blocks the head is behind: a fault. */
  readonly lag: number
  /** The id of another chain, which it claims to be: a fault. */
  readonly claimedChainId: number
  /** Whether there is a contract with handlers at an address. */
  readonly isContract: (address: Address) => boolean
  readonly limits: { readonly maxLogBlocks: number; readonly maxLogs: number }
  /** How wide a range of logs is refused, in the words of the personality. */
  readonly refuseRange: (fromBlock: number, toBlock: number) => Error
}

/** A method: what it takes, and how it is answered. */
export interface Method {
  readonly params: ParamRules
  readonly answer: (params: readonly unknown[], view: NodeView) => unknown
}

/** A method, as its own line in a table. The params are checked by the rules before it is asked. */
export function method<P extends readonly unknown[]>(
  params: ParamRules,
  answer: (view: NodeView, ...params: P) => unknown,
): Method {
  return { params, answer: (given, view) => answer(view, ...(given as P)) }
}

/** The last block that the node owns up to. */
export function headOf({ chain, lag }: NodeView): number {
  return Math.max(0, chain.height() - lag)
}

/** The number of the block that is meant; undefined where there is none. `pending` is the last one. */
export function blockNumberOf(view: NodeView, given: BlockIdentifier = 'latest'): number | undefined {
  const head = headOf(view)
  if (typeof given === 'object') {
    if (given.blockNumber !== undefined) return blockNumberOf(view, given.blockNumber)
    return hashed(view, given.blockHash as Hex)
  }
  if (given.length === 66) return hashed(view, given as Hex)
  if (given === 'earliest') return 0
  if (given === 'safe') return Math.max(0, head - 32)
  if (given === 'finalized') return Math.max(0, head - 64)
  const number = given === 'latest' || given === 'pending' ? head : Number(given)
  return number <= head ? number : undefined
}

function hashed(view: NodeView, hash: Hex): number | undefined {
  const number = view.chain.blockByHash(lower(hash))?.number
  return number !== undefined && number <= headOf(view) ? number : undefined
}

/** The block that is meant. */
export function blockOf(view: NodeView, given?: BlockIdentifier): Block | undefined {
  const number = blockNumberOf(view, given)
  return number === undefined ? undefined : view.chain.block(number)
}

/**
 * The number of the block whose state is meant.
 *
 * @throws {RpcFailure} where there is none: state of a block to come there is not.
 */
export function stateBlockOf(view: NodeView, given?: BlockIdentifier): number {
  const number = blockNumberOf(view, given)
  if (number === undefined) throw failed('header not found')
  return number
}

/** The data of a call, by either of its names. */
export function inputOf(call: { readonly input?: Bytes | undefined; readonly data?: Bytes | undefined }): Bytes {
  return lower(call.input ?? call.data ?? '0x')
}
