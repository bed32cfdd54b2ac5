import { stringifyData } from './stringifyData.ts'

/** The accepted range, according to an error for a range of logs. */
export interface RangeHint {
  /** No request may span more blocks than this. */
  readonly maxBlocks?: number | undefined
  /** The first block of a range that the error suggests. */
  readonly fromBlock?: number | undefined
  /** The last block of that range. */
  readonly toBlock?: number | undefined
  /** There are too many addresses, so a smaller range does not help. */
  readonly tooManyAddresses?: boolean | undefined
}

/** The parts of a JSON-RPC error that are parsed. */
export interface RangeErrorDetails {
  readonly message: string
  readonly data?: unknown
}

/** How providers suggest a range, and how they state their maximum number of blocks. */
interface Patterns {
  readonly suggestion: RegExp
  /** Each captures the number. */
  readonly caps: readonly RegExp[]
}

const createPatterns = (): Patterns => {
  const block = String.raw`(0x[\da-f]+|\d+)`
  const count = String.raw`(0x[\da-f]+|\d[\d,_]*(?:\.\d+)?\s?[km]?)\b`
  const suggestion = new RegExp(
    String.raw`(?:should work|try with)[^\d[]{0,40}\[?\s*${block}\s*(?:,|-|\bto\b)\s*${block}`,
    'i',
  )
  const caps = [
    // "up to a 500 block range", "limited to a 10,000 range", "limited to 0 - 10000 blocks range", "a range of 2000 blocks"
    String.raw`(?:up to|limited to)(?: an?)?(?: 0 ?-)? ${count}[- ]?(?:blocks?)? ?range`,
    // "ranges over 10000 blocks", "block range greater than 2000 max"
    String.raw`(?:ranges?|blocks) (?:over|above|beyond|(?:greater|larger|more|wider) than) ${count}`,
    // "maximum [from, to] blocks distance: 10000"
    String.raw`distance:? ${count}`,
    // "max block range 5000", "maximum is set to 2048", "maximum allowed is 2000 blocks", "max allowed range: 10001 > 10000"
    String.raw`\bmax(?:imum)?(?: (?:allowed|blocks?|range|limit|number|of|requested|is|are|set|to))*\W{0,3}(?:\d+ > )?${count}(?! ?(?:results|logs))`,
    // "range is limited to 1000", "range limit: 1000"
    String.raw`range (?:limit|is limited)\D{0,6}${count}`,
    // "limit the query to at most 1000 blocks"
    String.raw`(?:at most|no more than|less than|limited to) ${count} blocks`,
    // "query must be smaller than size 1024"
    String.raw`smaller than size ${count}`,
    // "block range too large, 10000 max"
    String.raw`range\D{0,30}${count} max\b`,
  ].map((pattern) => new RegExp(pattern, 'i'))
  return { suggestion, caps }
}

// Marked as pure, so that bundlers can drop it from programs that do not use it.
const patterns: Patterns = /* @__PURE__ */ createPatterns()

const readCount = (text: string): number => {
  const scale = /k$/i.test(text) ? 1e3 : /m$/i.test(text) ? 1e6 : 1
  return Math.floor(Number(text.replace(/[,_\s]|[km]$/gi, '')) * scale)
}

/** A block number of the error's data: hex, decimal, or a number. */
const readBlock = (value: unknown): number =>
  typeof value === 'number' || (typeof value === 'string' && /^(0x[\da-f]+|\d+)$/i.test(value)) ? Number(value) : NaN

/**
 * Parses the error for a range of logs for the range that the provider accepts. Every provider words it differently, and wordings change:
 * if nothing is found, the caller halves the range.
 *
 * @param error - The JSON-RPC error object, or anything with a message.
 * @returns The maximum number of blocks and a suggested range, if the error names them.
 * @example
 * parseRangeHint({ message: 'eth_getLogs is limited to a 10,000 range' }) // { maxBlocks: 10_000 }
 */
export function parseRangeHint({ message, data }: RangeErrorDetails): RangeHint {
  // Some gateways have a message of their own and forward the error of the node in the data.
  const texts = [message, stringifyData(data)].map((text) => text.slice(0, 1_000))
  if (texts.some(limitsAddresses) && !texts.some((text) => /\brange|block/i.test(text)))
    return { tooManyAddresses: true }
  const range = Object(data) as { readonly from?: unknown; readonly to?: unknown }
  const [, first, last] = texts.map((text) => patterns.suggestion.exec(text)).find(Boolean) ?? []
  const fromBlock = readBlock(first ?? range.from)
  const toBlock = readBlock(last ?? range.to)
  const suggested =
    Number.isSafeInteger(fromBlock) && Number.isSafeInteger(toBlock) && fromBlock <= toBlock
      ? { fromBlock, toBlock }
      : undefined
  // "up to a 2K block range and no limit on the response size, or any block range with a cap of 10K logs": the first is not a cap.
  const limits = texts.filter((text) => !/any block range/i.test(text))
  const cap = limits.flatMap((text) => patterns.caps.map((pattern) => pattern.exec(text)?.[1])).find(Boolean)
  const maxBlocks = cap === undefined ? 0 : readCount(cap)
  return { ...(maxBlocks > 0 && { maxBlocks }), ...suggested }
}

// "Please specify an address" asks for one: a smaller range may help, and fewer addresses do not.
const limitsAddresses = (text: string): boolean =>
  /address/i.test(text) && /too many|less|fewer|more than|number of|exceed|max|limit|up to/i.test(text)
