import type { Hex } from '@keyrail/core'
import { invalidOption } from '../encode/invalidOption.ts'

/** Where an iteration stands: everything before it was given. Plain JSON, to be kept and handed in again. */
export interface LogCursor {
  /** The block to go on with. */
  readonly nextBlock: number
  /** The index of the first log of that block that was not given yet. */
  readonly nextLogIndex: number
  /** With `checkReorg`: numbers and hashes of blocks near the head that what was given stands on, oldest first. */
  readonly edges?: readonly (readonly [number: number, hash: Hex])[] | undefined
}

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

/**
 * Refuses a cursor that is none: it may have been kept as JSON by anyone.
 *
 * @param cursor - What was handed in.
 * @throws {KeyrailError} kind `invalidRequest`.
 */
export function checkLogCursor(cursor: LogCursor): void {
  const { nextBlock, nextLogIndex, edges = [] } = Object(cursor) as LogCursor
  const right =
    isWhole(nextBlock) &&
    isWhole(nextLogIndex) &&
    Array.isArray(edges) &&
    edges.every((edge) => Array.isArray(edge) && isWhole(edge[0]) && /^0x[\da-f]{64}$/i.test(String(edge[1])))
  if (!right)
    throw invalidOption('cursor must be what cursor() gave: { nextBlock, nextLogIndex }, whole numbers from 0')
}
