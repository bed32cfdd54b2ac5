import type { Hex } from '@keyrail/core'
import type { ReadArguments } from '../arguments/command.ts'
import { wrongUsage } from '../cliError.ts'
import { toEventTopic } from './toEventTopic.ts'

const tags = ['earliest', 'finalized', 'safe', 'latest'] as const

/** A block as given on the command line. */
export type BlockOrTag = number | (typeof tags)[number]

/** Which logs the options select. */
export interface LogFilter {
  /** In lower case, sorted. Empty means every contract. */
  readonly address: readonly Hex[]
  /** By position, sorted within a position. Null matches any topic. */
  readonly topics: readonly (readonly Hex[] | null)[]
}

/**
 * Reads a block option.
 *
 * @param name - The option, for the error: `--from`.
 * @param text - Its value.
 * @throws {CliError} exit code 2 for anything but a block number or a tag.
 */
export function readBlock(name: string, text: string): BlockOrTag {
  const tag = tags.find((one) => one === text)
  if (tag !== undefined) return tag
  const number = /^(?:\d+|0x[\da-f]+)$/i.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(number)) return number
  throw wrongUsage(
    `${name} must be a block`,
    `use a number such as 21000000 or 0x1406f40, or one of ${tags.join(', ')}`,
  )
}

/** Reads an option that can be repeated and can hold several values, separated by commas. */
const readList = (given: ReadArguments, name: string): string[] =>
  given.texts(name).flatMap((text) => text.split(',').map((value) => value.trim()))

const sorted = (values: readonly string[]): Hex[] => [...new Set(values)].sort() as Hex[]

function readAddresses(given: ReadArguments): Hex[] {
  const values = readList(given, 'address').map((value) => value.toLowerCase())
  const invalid = values.findIndex((value) => !/^0x[\da-f]{40}$/.test(value))
  if (invalid === -1) return sorted(values)
  throw wrongUsage(
    `${values.length === 1 ? '--address' : `address ${invalid + 1} of --address`} must be a contract address`,
    'use 0x and 40 hex digits; ENS names are not resolved',
  )
}

function readTopic(given: ReadArguments, position: number): Hex[] | null {
  const values = readList(given, `topic${position}`).map((value) => value.toLowerCase())
  if (values.length === 0) return null
  return sorted(
    values.map((value) => {
      if (/^0x[\da-f]{64}$/.test(value)) return value
      // Indexed addresses are the most common filter. A topic holds one after twelve zero bytes.
      if (position > 0 && /^0x[\da-f]{40}$/.test(value)) return `0x${value.slice(2).padStart(64, '0')}`
      throw wrongUsage(
        `--topic${position} must be a topic`,
        position === 0
          ? 'use 0x and 64 hex digits, or --event with the signature of the event'
          : 'use 0x and 64 hex digits, or an address',
      )
    }),
  )
}

function readTopics(given: ReadArguments): (readonly Hex[] | null)[] {
  const events = given.texts('event').map(toEventTopic)
  const topics = [0, 1, 2, 3].map((position) => readTopic(given, position))
  if (events.length > 0) {
    if (topics[0] !== null)
      throw wrongUsage('--event and --topic0 cannot be combined', 'use one of them: --event sets topic 0')
    topics[0] = sorted(events)
  }
  return topics.slice(0, topics.findLastIndex((topic) => topic !== null) + 1)
}

/**
 * Reads `--address`, `--event` and `--topic0` to `--topic3`.
 *
 * @param given - The command's arguments.
 * @throws {CliError} exit code 2 for an invalid option.
 */
export const readLogFilter = (given: ReadArguments): LogFilter => ({
  address: readAddresses(given),
  topics: readTopics(given),
})
