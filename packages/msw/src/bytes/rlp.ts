import { concat, integerBytes } from './hex.ts'

/** Bytes, or a list of such, as deep as one likes. */
export type Rlp = Uint8Array | readonly Rlp[]

function prefix(length: number, short: number): Uint8Array {
  if (length < 56) return Uint8Array.of(short + length)
  const digits = integerBytes(length)
  return concat(Uint8Array.of(short + 55 + digits.length), digits)
}

/**
 * Writes RLP.
 *
 * @see Yellow Paper, appendix B
 */
export function encodeRlp(value: Rlp): Uint8Array {
  if (value instanceof Uint8Array) {
    return value.length === 1 && (value[0] as number) < 0x80 ? value : concat(prefix(value.length, 0x80), value)
  }
  const body = concat(...value.map(encodeRlp))
  return concat(prefix(body.length, 0xc0), body)
}

/**
 * Reads RLP, and nothing that could be written shorter.
 *
 * @throws {Error} in the words of geth, where it is none.
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
