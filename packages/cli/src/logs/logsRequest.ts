import { extname } from 'node:path'
import type { Hex } from '@keyrail/core'
import type { ReadArguments } from '../arguments/command.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { wrongUsage } from '../cliError.ts'
import { toEventTopic } from './toEventTopic.ts'
import type { LogFormatName } from './logFormat.ts'

const tags = ['earliest', 'finalized', 'safe', 'latest'] as const

/** One end of a range, as it is given. */
export type RangeEnd = number | (typeof tags)[number]

/** Which logs of which blocks, and where they go. */
export interface LogsRequest {
  readonly from: RangeEnd
  readonly to: RangeEnd
  /** In lower case, sorted; none means every contract. */
  readonly address: readonly Hex[]
  /** By place, those of one place sorted; null for whatever stands there. */
  readonly topics: readonly (readonly Hex[] | null)[]
  readonly format: LogFormatName
  /** The file; undefined for standard output. */
  readonly out: string | undefined
  /** Whether what is there may be replaced. */
  readonly overwrite: boolean
  readonly concurrency: number | undefined
  readonly maxBlocks: number | undefined
}

function readEnd(name: string, text: string): RangeEnd {
  const tag = tags.find((one) => one === text)
  if (tag !== undefined) return tag
  const number = /^(?:\d+|0x[\da-f]+)$/i.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(number)) return number
  throw wrongUsage(`${name} is no block`, `it is a number, such as 21000000 or 0x1406f40, or one of ${tags.join(', ')}`)
}

/** The values of an option that may be given several times, and hold several at a time. */
const valuesOf = (given: ReadArguments, name: string): string[] =>
  given.texts(name).flatMap((text) => text.split(',').map((value) => value.trim()))

const sorted = (values: readonly string[]): Hex[] => [...new Set(values)].sort() as Hex[]

function readAddresses(given: ReadArguments): Hex[] {
  const values = valuesOf(given, 'address').map((value) => value.toLowerCase())
  const wrong = values.findIndex((value) => !/^0x[\da-f]{40}$/.test(value))
  if (wrong === -1) return sorted(values)
  throw wrongUsage(
    `${values.length === 1 ? '--address' : `address ${wrong + 1} of --address`} is no address of a contract`,
    'it is 0x and 40 hex digits; names are not looked up',
  )
}

function readTopic(given: ReadArguments, place: number): Hex[] | null {
  const values = valuesOf(given, `topic${place}`).map((value) => value.toLowerCase())
  if (values.length === 0) return null
  return sorted(
    values.map((value) => {
      if (/^0x[\da-f]{64}$/.test(value)) return value
      // An indexed address is what is looked for most, and stands in a topic behind twelve zero bytes.
      if (place > 0 && /^0x[\da-f]{40}$/.test(value)) return `0x${value.slice(2).padStart(64, '0')}`
      throw wrongUsage(
        `--topic${place} is no topic`,
        place === 0
          ? 'it is 0x and 64 hex digits; --event takes an event by its signature'
          : 'it is 0x and 64 hex digits, or an address',
      )
    }),
  )
}

function readTopics(given: ReadArguments): (readonly Hex[] | null)[] {
  const events = given.texts('event').map(toEventTopic)
  const topics = [0, 1, 2, 3].map((place) => readTopic(given, place))
  if (events.length > 0) {
    if (topics[0] !== null) throw wrongUsage('--event and --topic0 exclude each other', 'an event is its topic 0')
    topics[0] = sorted(events)
  }
  // Whatever stands in the last places need not be said.
  return topics.slice(0, topics.findLastIndex((topic) => topic !== null) + 1)
}

function readFormat(text: string | undefined, out: string | undefined): LogFormatName {
  if (text === 'ndjson' || text === 'csv') return text
  if (text !== undefined) throw wrongUsage('--format is unknown', 'it is ndjson or csv')
  return out !== undefined && extname(out).toLowerCase() === '.csv' ? 'csv' : 'ndjson'
}

/**
 * Reads what `keyrail logs` is asked for.
 *
 * @param given - The command's arguments.
 * @throws {CliError} exit code 2, naming the option and the fix.
 */
export function readLogsRequest(given: ReadArguments): LogsRequest {
  if (given.positionals.length > 0) throw wrongUsage('keyrail logs takes options only', 'see keyrail logs --help')
  const first = given.text('from')
  if (first === undefined) throw wrongUsage('keyrail logs needs a first block', 'for example --from 21000000')
  const from = readEnd('--from', first)
  const to = readEnd('--to', given.text('to') ?? 'latest')
  if (typeof from === 'number' && typeof to === 'number' && from > to) {
    throw wrongUsage(`--from (${from}) lies above --to (${to})`, 'give the lower block as --from')
  }
  const path = given.text('out')
  const out = path === '-' ? undefined : path
  const overwrite = given.flag('overwrite')
  if (overwrite && out === undefined) throw wrongUsage('--overwrite needs a file', 'name one by --out FILE')
  return {
    from,
    to,
    address: readAddresses(given),
    topics: readTopics(given),
    format: readFormat(given.text('format'), out),
    out,
    overwrite,
    concurrency: readWholeNumber('--concurrency', given.text('concurrency'), { min: 1, max: 64 }),
    maxBlocks: readWholeNumber('--max-blocks', given.text('max-blocks'), { min: 1, max: 2 ** 31 }),
  }
}
