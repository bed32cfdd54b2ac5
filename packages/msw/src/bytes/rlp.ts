import { writeHex } from './hex.ts'

/** Bytes (to encode: also hex), or a nested list of bytes. */
export type Rlp = Uint8Array | string | readonly Rlp[]

/** The number of bytes of a length that does not fit into the first byte. */
const lengthBytes = (length: number): number =>
  length < 56 ? 0 : length < 256 ? 1 : length < 65_536 ? 2 : length < 16_777_216 ? 3 : 4

const byteLength = (item: Uint8Array | string): number => (typeof item === 'string' ? item.length / 2 - 1 : item.length)
const isList = (value: Rlp): value is readonly Rlp[] => Array.isArray(value)
/** Whether the item is its own encoding: a single byte below 0x80. */
const isSingleByte = (item: Uint8Array | string): boolean =>
  byteLength(item) === 1 && (typeof item === 'string' ? Number(item) : (item[0] as number)) < 0x80

/** The length of the encoded items of a list, without its header. */
function bodyLength(list: readonly Rlp[]): number {
  let length = 0
  for (const item of list) length += encodedLength(item)
  return length
}

function encodedLength(value: Rlp): number {
  if (!isList(value) && isSingleByte(value)) return 1
  const length = isList(value) ? bodyLength(value) : byteLength(value)
  return 1 + lengthBytes(length) + length
}

/** Writes the header with the length. @returns the offset after it. */
function writeHead(target: Uint8Array, at: number, length: number, short: number): number {
  if (length < 56) {
    target[at] = short + length
    return at + 1
  }
  const digits = lengthBytes(length)
  target[at] = short + 55 + digits
  for (let digit = 0; digit < digits; digit++) target[at + 1 + digit] = length >>> (8 * (digits - 1 - digit))
  return at + 1 + digits
}

function write(target: Uint8Array, at: number, value: Rlp): number {
  if (isList(value)) {
    let next = writeHead(target, at, bodyLength(value), 0xc0)
    for (const item of value) next = write(target, next, item)
    return next
  }
  const start = isSingleByte(value) ? at : writeHead(target, at, byteLength(value), 0x80)
  // Most values are stored as hex, so hex is written directly into the target.
  if (typeof value === 'string') writeHex(target, start, value)
  else target.set(value, start)
  return start + byteLength(value)
}

/**
 * Encodes RLP.
 *
 * @see Yellow Paper, appendix B
 */
export function encodeRlp(value: Rlp): Uint8Array {
  const target = new Uint8Array(encodedLength(value))
  write(target, 0, value)
  return target
}

/**
 * Decodes RLP. Rejects encodings that are not canonical.
 *
 * @throws {Error} with geth's message, if the bytes are not valid RLP.
 */
export function decodeRlp(bytes: Uint8Array): Rlp {
  const [value, end] = readItem(bytes, 0, bytes.length)
  if (end !== bytes.length) throw new Error('rlp: input contains more than one value')
  return value
}

function readItem(bytes: Uint8Array, at: number, limit: number): [value: Rlp, end: number] {
  if (at >= limit) throw new Error('rlp: unexpected EOF')
  const first = bytes[at] as number
  if (first < 0x80) return [bytes.slice(at, at + 1), at + 1]
  const isList = first >= 0xc0
  let length = first - (isList ? 0xc0 : 0x80)
  let start = at + 1
  if (length > 55) {
    const digits = length - 55
    if (start + digits > limit) throw new Error('rlp: value larger than containing list')
    length = 0
    for (let digit = 0; digit < digits; digit++) length = length * 256 + (bytes[start++] as number)
    if (length < 56 || bytes[at + 1] === 0) throw new Error('rlp: non-canonical size information')
  }
  const end = start + length
  if (end > limit) throw new Error('rlp: value larger than containing list')
  if (!isList) {
    if (length === 1 && (bytes[start] as number) < 0x80) throw new Error('rlp: non-canonical size information')
    return [bytes.slice(start, end), end]
  }
  const items: Rlp[] = []
  while (start < end) {
    const [item, next] = readItem(bytes, start, end)
    items.push(item)
    start = next
  }
  return [items, end]
}
