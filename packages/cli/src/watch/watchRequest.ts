import type { ReadArguments } from '../arguments/command.ts'
import { wrongUsage } from '../cliError.ts'
import { readBlock, readLogFilter } from '../logs/readLogFilter.ts'
import type { BlockOrTag, LogFilter } from '../logs/readLogFilter.ts'

/** The options of `keyrail watch`. */
export interface WatchRequest {
  /** Which logs to watch; undefined for blocks. */
  readonly logs: LogFilter | undefined
  /** The first block; undefined for the next one. */
  readonly from: BlockOrTag | undefined
  readonly cursorFile: string | undefined
  readonly json: boolean
}

/**
 * Reads the options of `keyrail watch`.
 *
 * @param given - The command's arguments.
 * @throws {CliError} exit code 2 for an invalid argument or option.
 */
export function readWatchRequest(given: ReadArguments): WatchRequest {
  const [what, ...rest] = given.positionals
  if ((what !== 'blocks' && what !== 'logs') || rest.length > 0) {
    throw wrongUsage('keyrail watch takes one argument: blocks or logs', 'for example keyrail watch blocks')
  }
  const filter = readLogFilter(given)
  if (what === 'blocks' && (filter.address.length > 0 || filter.topics.length > 0)) {
    throw wrongUsage('--address, --event and --topic are for keyrail watch logs', 'remove them, or watch logs')
  }
  const from = given.text('from')
  return {
    logs: what === 'logs' ? filter : undefined,
    from: from === undefined ? undefined : readBlock('--from', from),
    cursorFile: given.text('cursor-file'),
    json: given.flag('json'),
  }
}
