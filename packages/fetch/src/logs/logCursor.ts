import type { Hex } from '@keyrail/core'
import { invalidOption } from '../encode/invalidOption.ts'

/** The position of an iteration: the loop has received every log before it. Plain JSON, so that you can store it and resume. */
export interface LogCursor {
  /** The block to resume with. */
  readonly nextBlock: number
  /** The index of the first log of that block that the loop has not received. */
  readonly nextLogIndex: number
  /** With `checkReorg`: numbers and hashes of blocks near the head at the time, oldest first, to detect a reorganization later. */
  readonly edges?: readonly (readonly [number: number, hash: Hex])[] | undefined
}

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

/**
 * Rejects an invalid cursor. It comes from storage, so it may be anything.
 *
 * @param cursor - The value passed as a cursor.
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
    throw invalidOption(
      'cursor must be a value that cursor() returned: { nextBlock, nextLogIndex }, whole numbers from 0',
    )
}
