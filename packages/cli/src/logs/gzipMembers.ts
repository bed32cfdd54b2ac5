import { gunzipSync } from 'node:zlib'
import type { LogCursor } from '@keyrail/fetch'
import { CliError } from '../cliError.ts'
import { parseBlockNumber } from './logFormat.ts'

/** A part of a compressed file that can be read and removed on its own: the position, and the export's progress, where it starts. */
export interface GzipMember {
  readonly offset: number
  readonly logs: number
  readonly cursor: LogCursor
}

/** Whether a file is compressed: its name ends with `.gz`. */
export const isGzip = (path: string): boolean => path.toLowerCase().endsWith('.gz')

/** How many members a checkpoint has. They contain far more than the last 64 blocks, which a reorg can replace. */
export const maxMembers = 256

/** How to remove the logs from a block on. */
export interface MemberRollback {
  /** Where to cut the file: at the start of a member, or at its end. */
  readonly cut: GzipMember
  /** The text after the cut and before the block, to be written again. */
  readonly rest: string
  /** How many logs are removed. */
  readonly removed: number
}

/**
 * Finds where to cut a compressed file.
 *
 * @param members - The last members of the file.
 * @param end - The end of the file.
 * @param read - Reads a part of the file.
 * @param fromBlock - The first block to remove.
 * @throws {CliError} if the block is before these members.
 * @see RFC 1952 (a file consists of one or more members)
 */
export function rollBackMembers(
  members: readonly GzipMember[],
  end: GzipMember,
  read: (start: number, end: number) => Buffer,
  fromBlock: number,
): MemberRollback {
  let removed = 0
  let cut = end
  for (const member of members.toReversed()) {
    const text = gunzipSync(read(member.offset, cut.offset)).toString('latin1')
    const lines = text.split(/(?<=\n)/)
    const remaining = lines.findIndex((line) => (parseBlockNumber(line) ?? -1) >= fromBlock)
    if (remaining === -1) return { cut, rest: '', removed }
    removed += lines.length - remaining
    cut = member
    // Otherwise, logs of the block may also be in the member before.
    if (remaining > 0) return { cut, rest: lines.slice(0, remaining).join(''), removed }
  }
  if (cut.offset === 0) return { cut, rest: '', removed }
  throw new CliError(`a reorg replaced logs at or above block ${fromBlock}, which are already compressed`, {
    hint: 'start over with --overwrite and --to finalized, or without .gz',
  })
}
