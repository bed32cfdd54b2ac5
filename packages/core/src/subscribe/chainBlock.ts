import { KeyrailError } from '../failure/keyrailError.ts'
import { sortLogs } from '../logs/sortLogs.ts'
import type { PlacedLog } from '../logs/sortLogs.ts'
import type { RpcBlock, RpcBlockHeader } from '../schema/block.ts'
import type { Hash, Quantity } from '../schema/hex.ts'
import type { RpcLog } from '../schema/log.ts'
import type { BlockPosition } from './subscription.ts'

/** A block, with what following the chain needs of it. */
export interface ChainBlock {
  readonly number: number
  readonly hash: Hash
  readonly parentHash: Hash
  /** In seconds since 1970. */
  readonly timestamp: number
  /** The header as the node sent it. */
  readonly header: RpcBlockHeader
}

/** A {@link ChainBlock} that was read with its transactions or their hashes. */
export interface WholeBlock extends ChainBlock {
  readonly block: RpcBlock
}

/** Creates the error for a malformed response. */
export const malformed = (what: string, wanted: string): KeyrailError =>
  new KeyrailError(`${what} is not ${wanted}`, {
    kind: 'badResponse',
    source: 'node',
    retryable: false,
    hint: 'the node, or a proxy in front of it, returned a response that violates the protocol',
  })

/** Creates the error for a block that the node does not have, or no longer has. */
export const missingBlock = (block: number | string): KeyrailError =>
  new KeyrailError(`the node has no block ${block} now`, {
    kind: 'lagging',
    source: 'node',
    retryable: true,
    method: 'eth_getBlockByNumber',
    hint: 'retry: the node may be behind, or the block was replaced',
  })

/**
 * Parses a number of a response.
 *
 * @throws {KeyrailError} kind `badResponse` if it is not a hex quantity below 2^53.
 */
export function parseNumber(value: unknown, path: string): number {
  const number = typeof value === 'string' && /^0x[\da-f]+$/i.test(value) ? Number(value) : NaN
  if (!Number.isSafeInteger(number)) throw malformed(path, 'a hex quantity below 2^53')
  return number
}

const parseHash = (value: unknown, path: string): Hash => {
  if (typeof value === 'string' && /^0x[\da-f]{64}$/i.test(value)) return value as Hash
  throw malformed(path, '0x and 64 hex digits')
}

/** Writes a number as a hex quantity. */
export const toQuantity = (number: number): Quantity => `0x${number.toString(16)}`

/** The position of a block's parent. The first block of a chain has none, and is the same on all branches. */
export const getParent = ({ number, hash, parentHash }: ChainBlock): { readonly number: number; readonly hash: Hash } =>
  number === 0 ? { number, hash } : { number: number - 1, hash: parentHash }

/** A position on the wire. */
export const toPosition = ({ number, hash }: { readonly number: number; readonly hash: Hash }): BlockPosition => ({
  number: toQuantity(number),
  hash,
})

/**
 * Parses a position that a service sent.
 *
 * @throws {KeyrailError} kind `badResponse` if it is malformed.
 */
export function parsePosition(value: unknown): { readonly number: number; readonly hash: Hash } {
  const { number, hash } = Object(value) as { readonly number?: unknown; readonly hash?: unknown }
  return { number: parseNumber(number, 'position.number'), hash: parseHash(hash, 'position.hash') }
}

/** Not in a header, so that headers are the same by polling and by `newHeads`, which does not send these. */
const wholeBlockMembers = ['transactions', 'size', 'uncles', 'withdrawals', 'totalDifficulty'] as const

/**
 * Parses a block or a header. Only the members that following the chain needs are checked.
 *
 * @throws {KeyrailError} kind `badResponse` for a missing or malformed member.
 */
export function parseBlock(value: unknown): WholeBlock {
  const header: Partial<RpcBlock> = { ...(Object(value) as RpcBlock) }
  for (const name of wholeBlockMembers) delete header[name]
  return {
    number: parseNumber(header.number, 'block.number'),
    hash: parseHash(header.hash, 'block.hash'),
    parentHash: parseHash(header.parentHash, 'block.parentHash'),
    timestamp: parseNumber(header.timestamp, 'block.timestamp'),
    header: header as RpcBlockHeader,
    block: value as RpcBlock,
  }
}

/**
 * Checks logs, sorts them in chain order and removes repeated ones.
 *
 * @param value - What the node sent.
 * @param belongs - Whether a log is in a requested block. (A node ignores the fields of a filter that it does not know.)
 * @throws {KeyrailError} kind `badResponse` for a malformed response.
 */
export function parseLogs(value: unknown, belongs: (log: RpcLog, number: number) => boolean): RpcLog[] {
  if (!Array.isArray(value)) throw malformed('logs', 'an array')
  const numbered = value.map((one: unknown) => parseLog(one))
  if (!numbered.every(({ log, number }) => belongs(log, number)))
    throw malformed('logs', 'limited to the requested blocks')
  return sortLogs(numbered)
}

/**
 * Parses a log. Only the members that order logs are checked.
 *
 * @throws {KeyrailError} kind `badResponse` for a missing or malformed member.
 */
export function parseLog(value: unknown): PlacedLog<RpcLog> {
  const log = Object(value) as RpcLog
  parseHash(log.blockHash, 'log.blockHash')
  return {
    log,
    number: parseNumber(log.blockNumber, 'log.blockNumber'),
    index: parseNumber(log.logIndex, 'log.logIndex'),
  }
}
