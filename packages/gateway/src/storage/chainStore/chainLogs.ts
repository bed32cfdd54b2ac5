import { getMember, scanItems, scanMembers } from '../../lib/json/scanMembers.ts'
import { parseQuantity } from '../../lib/rpc/quantity.ts'
import type { BlockRange } from './blockRanges.ts'

/** A log of a mined block, and where it is on the chain. */
export interface PlacedLog {
  readonly block: number
  /** Its index in the block. */
  readonly index: number
  /** The names of its members, in their order. */
  readonly names: string
  /** The node's own source text, one character for each byte. */
  readonly text: string
}

/** A log with what filters are about. */
export interface ChainLog extends PlacedLog {
  readonly blockHash: string
  /** In lower case. */
  readonly address: string
  /** In lower case. */
  readonly topics: readonly string[]
}

const addressText = /^"0x[0-9a-f]{40}"$/
const hashText = /^"0x[0-9a-f]{64}"$/
const topicsText = /^\[\s*(?:"0x[0-9a-f]{64}"\s*(?:,\s*"0x[0-9a-f]{64}"\s*)*)?\]$/
const topicText = /0x[0-9a-f]{64}/g

/**
 * Parses a log.
 * @param list - Source text that has it at `start`.
 * @returns `undefined` if it is not a complete log of a mined block.
 */
export const parseLog = (list: string, start: number): ChainLog | undefined => {
  const members = scanMembers(list, start)
  if (members === undefined) return undefined
  const values = new Map<string, string>()
  let names = ''
  for (const { name, start: from, end } of members.members) {
    if (values.has(name)) return undefined
    values.set(name, list.slice(from, end))
    names += `${name},`
  }
  const block = parseQuantity(values.get('blockNumber') ?? '')
  const index = parseQuantity(values.get('logIndex') ?? '')
  const blockHash = values.get('blockHash')?.toLowerCase() ?? ''
  const address = values.get('address')?.toLowerCase() ?? ''
  const topics = values.get('topics')?.toLowerCase() ?? ''
  const isValid =
    block !== undefined &&
    index !== undefined &&
    hashText.test(blockHash) &&
    addressText.test(address) &&
    topicsText.test(topics) &&
    (values.get('removed') ?? 'false') === 'false'
  if (!isValid) return undefined
  return {
    block,
    index,
    blockHash,
    address: address.slice(1, -1),
    topics: topics.match(topicText) ?? [],
    names,
    text: list.slice(start, members.end),
  }
}

/**
 * Parses the result of `eth_getLogs`.
 * @param list - Source text, one character for each byte.
 * @returns `undefined` if it has anything but complete logs of mined blocks, or two logs with the same place: some chains count the logs of each
 * transaction from 0, and then nothing says which logs are the same.
 */
export const parseLogs = (list: string): readonly ChainLog[] | undefined => {
  const items = scanItems(list)?.items
  if (items === undefined) return undefined
  const logs: ChainLog[] = []
  let isOrdered = true
  for (const { start } of items) {
    const log = parseLog(list, start)
    if (log === undefined) return undefined
    const last = logs.at(-1)
    isOrdered &&= last === undefined || log.block > last.block || (log.block === last.block && log.index > last.index)
    logs.push(log)
  }
  const hasRepeats = !isOrdered && new Set(logs.map(({ block, index }) => `${block} ${index}`)).size < logs.length
  return hasRepeats ? undefined : logs
}

/** Creates a function that returns whether a log is in a range. */
export const isIn =
  ({ first, last }: BlockRange) =>
  ({ block }: PlacedLog): boolean =>
    block >= first && block <= last

/** Puts logs in chain order. */
export const sortLogs = <Log extends PlacedLog>(logs: readonly Log[]): readonly Log[] =>
  logs.toSorted((one, other) => one.block - other.block || one.index - other.index)

/** Whether two logs with the same place are the same one. Nodes write the members in any order, and some send more of them. */
const isSameLog = (one: ChainLog, other: ChainLog): boolean =>
  one.address === other.address &&
  one.topics.join() === other.topics.join() &&
  ['data', 'transactionHash'].every(
    (name) => getMember(one.text, name)?.toLowerCase() === getMember(other.text, name)?.toLowerCase(),
  )

/**
 * Puts logs of several answers in chain order, each once.
 * @returns `undefined` if they cannot be of the same chain.
 */
export const joinLogs = (logs: readonly ChainLog[]): readonly ChainLog[] | undefined => {
  const joined: ChainLog[] = []
  for (const log of sortLogs(logs)) {
    const last = joined.at(-1)
    if (last?.block === log.block) {
      if (last.blockHash !== log.blockHash) return undefined
      if (last.index === log.index) {
        if (!isSameLog(last, log)) return undefined
        continue
      }
    }
    joined.push(log)
  }
  return joined
}

/** Writes the members of a log that all have, in one order. */
const writeMembers = (text: string, names: readonly string[]): string => {
  const members = scanMembers(text)?.members ?? []
  const write = (wanted: string): string => {
    const found = members.find(({ name }) => name === wanted)
    return `${JSON.stringify(wanted)}:${found === undefined ? 'null' : text.slice(found.start, found.end)}`
  }
  return `{${names.map(write).join(',')}}`
}

/** Writes logs so that they can be read without parsing them: their places first, and then their texts. */
export const packLogs = (logs: readonly PlacedLog[]): string => {
  const names = [...new Set(logs.map((log) => log.names))]
  const places = logs.flatMap((log) => [log.block, log.index, log.text.length, names.indexOf(log.names)])
  return `${JSON.stringify({ names, places })}\n${logs.map(({ text }) => text).join('')}`
}

/** Reads what `packLogs` wrote. */
export const unpackLogs = (packed: string): readonly PlacedLog[] => {
  let at = packed.indexOf('\n') + 1
  const { names, places } = JSON.parse(packed.slice(0, at)) as { names: readonly string[]; places: readonly number[] }
  const logs: PlacedLog[] = []
  for (let place = 0; place < places.length; place += 4) {
    const end = at + (places[place + 2] ?? 0)
    const text = packed.slice(at, end)
    logs.push({
      block: places[place] ?? 0,
      index: places[place + 1] ?? 0,
      names: names[places[place + 3] ?? 0] ?? '',
      text,
    })
    at = end
  }
  return logs
}

/** Writes a list of source texts. To join them as strings would take several times as long. */
const writeList = (texts: readonly string[]): Buffer => {
  const separators = Math.max(0, texts.length - 1)
  const list = Buffer.allocUnsafeSlow(texts.reduce((sum, { length }) => sum + length, 2 + separators))
  let at = list.write('[')
  for (const text of texts) {
    if (at > 1) at += list.write(',', at)
    at += list.write(text, at, 'latin1')
  }
  list.write(']', at)
  return list
}

/**
 * Writes logs as the result of `eth_getLogs`: byte for byte if all have the same members. Otherwise, without those that only some nodes send, such as
 * `blockTimestamp`, because clients expect all logs of a result to have the same.
 */
export const writeLogs = (logs: readonly PlacedLog[]): Buffer => {
  const [first] = logs
  if (first === undefined || logs.every(({ names }) => names === first.names))
    return writeList(logs.map(({ text }) => text))
  const lists = new Set(logs.map(({ names }) => names))
  let common = first.names.split(',').slice(0, -1)
  for (const names of lists) {
    const own = new Set(names.split(','))
    common = common.filter((name) => own.has(name))
  }
  return writeList(logs.map(({ text }) => writeMembers(text, common)))
}
