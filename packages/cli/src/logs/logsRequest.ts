import { extname } from 'node:path'
import type { ReadArguments } from '../arguments/command.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { wrongUsage } from '../cliError.ts'
import { getIndexed } from './decodedFormat.ts'
import { isGzip } from './gzipMembers.ts'
import type { LogFormatName } from './logFormat.ts'
import { readBlock, readLogFilter } from './readLogFilter.ts'
import type { BlockOrTag, LogFilter } from './readLogFilter.ts'
import { parseEvent } from './toEventTopic.ts'

/** The options of `keyrail logs`. */
export interface LogsRequest extends LogFilter {
  readonly from: BlockOrTag
  readonly to: BlockOrTag
  readonly format: LogFormatName
  /** The event whose parameters are decoded; undefined for none. */
  readonly decode: string | undefined
  /** The output file; undefined for standard output. */
  readonly out: string | undefined
  /** Whether to replace an existing file. */
  readonly overwrite: boolean
  readonly concurrency: number | undefined
  readonly maxBlocks: number | undefined
}

/** The format of each file ending. A file without one is NDJSON. */
const formatByEnding: Readonly<Record<string, LogFormatName>> = {
  '': 'ndjson',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.csv': 'csv',
  '.parquet': 'parquet',
}
const isFormat = (text: string): text is LogFormatName => Object.values<string>(formatByEnding).includes(text)

function readFormat(text: string | undefined, out: string | undefined): LogFormatName {
  if (text !== undefined) {
    if (isFormat(text)) return text
    throw wrongUsage('--format must be ndjson, csv or parquet')
  }
  const ending = extname((out ?? '').replace(/\.gz$/i, '')).toLowerCase()
  const format = Object.hasOwn(formatByEnding, ending) ? formatByEnding[ending] : undefined
  if (format !== undefined) return format
  throw wrongUsage(
    `--out has an unknown ending: ${ending}`,
    'use .ndjson, .jsonl, .csv or .parquet, the first three also with .gz, or add --format',
  )
}

/** Checks that Parquet is written to a file, and not compressed twice. */
function checkParquet(out: string | undefined): void {
  if (out === undefined) throw wrongUsage('Parquet needs a file', 'add --out FILE, for example --out logs.parquet')
  if (isGzip(out)) throw wrongUsage('a Parquet file is compressed already', 'use --out without .gz')
}

/** Reads `--decode`. @returns The event; undefined without the option. */
function readDecode(given: ReadArguments): string | undefined {
  if (!given.flag('decode')) return undefined
  const [event, ...others] = given.texts('event')
  const hint = "for example --decode --event 'Transfer(address indexed from, address indexed to, uint256 value)'"
  if (event === undefined || others.length > 0) throw wrongUsage('--decode needs exactly one --event', hint)
  if (getIndexed(parseEvent(event)).length > 3)
    throw wrongUsage('--event has more than three indexed parameters', 'a log has four topics; the first is the event')
  return event
}

/**
 * Reads the options of `keyrail logs`.
 *
 * @param given - The command's arguments.
 * @throws {CliError} exit code 2 for an invalid option.
 */
export function readLogsRequest(given: ReadArguments): LogsRequest {
  if (given.positionals.length > 0)
    throw wrongUsage('keyrail logs takes no arguments, only options', 'see keyrail logs --help')
  const first = given.text('from')
  if (first === undefined) throw wrongUsage('keyrail logs needs --from', 'for example --from 21000000')
  const from = readBlock('--from', first)
  const to = readBlock('--to', given.text('to') ?? 'latest')
  if (typeof from === 'number' && typeof to === 'number' && from > to) {
    throw wrongUsage(`--from (${from}) is above --to (${to})`, 'swap them')
  }
  const path = given.text('out')
  const out = path === '-' ? undefined : path
  const overwrite = given.flag('overwrite')
  if (overwrite && out === undefined) throw wrongUsage('--overwrite needs a file', 'add --out FILE')
  const format = readFormat(given.text('format'), out)
  if (format === 'parquet') checkParquet(out)
  return {
    from,
    to,
    ...readLogFilter(given),
    format,
    decode: readDecode(given),
    out,
    overwrite,
    concurrency: readWholeNumber('--concurrency', given.text('concurrency'), { min: 1, max: 64 }),
    maxBlocks: readWholeNumber('--max-blocks', given.text('max-blocks'), { min: 1, max: 2 ** 31 }),
  }
}
