import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  dot,
  isDigit as isDigitCode,
  isEscape as isEscapeCode,
  isHex as isHexCode,
  isSpace as isSpaceCode,
  literals,
  lowerE,
  lowerU,
  minus,
  openBrace,
  openBracket,
  plus,
  quote,
  upperE,
  zero,
} from './characters.ts'

/** Whether bytes are JSON. `tooDeep`: unknown, because the nesting is too deep to continue. */
export type JsonCheck = 'json' | 'malformed' | 'tooDeep'

/** The functions below return these in place of an offset. */
const malformed = -1
const tooDeep = -2

const asTable = (isIn: (code: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, code) => (isIn(code) ? 1 : 0))

// Tables, because they are faster here than functions.
const isSpace = asTable(isSpaceCode)
const isDigit = asTable(isDigitCode)
const isHex = asTable(isHexCode)
/** The bytes of a string that neither end it nor start an escape, including all of UTF-8. */
const isPlain = asTable((code) => code >= 32 && code !== quote && code !== backslash)
const isEscape = asTable(isEscapeCode)

/** @returns The offset of the first byte at or after `at` that is not in the table. */
const skip = (bytes: Uint8Array, at: number, table: Uint8Array): number => {
  let offset = at
  while (offset < bytes.length && table[bytes[offset] as number] === 1) offset += 1
  return offset
}

const skipLiteral = (bytes: Uint8Array, at: number): number => {
  const literal = literals.get(bytes[at] as number)
  if (literal === undefined) return malformed
  for (let index = 1; index < literal.length; index += 1) if (bytes[at + index] !== literal[index]) return malformed
  return at + literal.length
}

/** @returns The offset after one or more digits. */
const skipDigits = (bytes: Uint8Array, at: number): number => {
  const end = skip(bytes, at, isDigit)
  return end === at ? malformed : end
}

const skipNumber = (bytes: Uint8Array, at: number): number => {
  const first = bytes[at] === minus ? at + 1 : at
  let offset = bytes[first] === zero ? first + 1 : skipDigits(bytes, first)
  if (offset !== malformed && bytes[offset] === dot) offset = skipDigits(bytes, offset + 1)
  if (offset !== malformed && (bytes[offset] === lowerE || bytes[offset] === upperE)) {
    const hasSign = bytes[offset + 1] === plus || bytes[offset + 1] === minus
    offset = skipDigits(bytes, hasSign ? offset + 2 : offset + 1)
  }
  return offset
}

const skipString = (bytes: Uint8Array, at: number): number => {
  let offset = at + 1
  for (;;) {
    offset = skip(bytes, offset, isPlain)
    if (bytes[offset] === quote) return offset + 1
    // A control character, or the end.
    if (bytes[offset] !== backslash) return malformed
    const escape = bytes[offset + 1]
    if (escape === undefined) return malformed
    if (escape === lowerU) {
      for (let digit = 2; digit < 6; digit += 1) if (isHex[bytes[offset + digit] ?? 0] !== 1) return malformed
      offset += 6
    } else if (isEscape[escape] === 1) offset += 2
    else return malformed
  }
}

/** @param levels - How many more levels of nesting are allowed. */
const skipValue = (bytes: Uint8Array, at: number, levels: number): number => {
  const first = bytes[at]
  if (first === undefined) return malformed
  if (first === quote) return skipString(bytes, at)
  if (first === openBrace || first === openBracket) {
    if (levels === 0) return tooDeep
    return first === openBrace ? skipObject(bytes, at, levels - 1) : skipArray(bytes, at, levels - 1)
  }
  return first === minus || isDigit[first] === 1 ? skipNumber(bytes, at) : skipLiteral(bytes, at)
}

const skipArray = (bytes: Uint8Array, at: number, levels: number): number => {
  let offset = skip(bytes, at + 1, isSpace)
  if (bytes[offset] === closeBracket) return offset + 1
  for (;;) {
    offset = skipValue(bytes, offset, levels)
    if (offset < 0) return offset
    offset = skip(bytes, offset, isSpace)
    if (bytes[offset] === closeBracket) return offset + 1
    if (bytes[offset] !== comma) return malformed
    offset = skip(bytes, offset + 1, isSpace)
  }
}

const skipObject = (bytes: Uint8Array, at: number, levels: number): number => {
  let offset = skip(bytes, at + 1, isSpace)
  if (bytes[offset] === closeBrace) return offset + 1
  for (;;) {
    if (bytes[offset] !== quote) return malformed
    offset = skipString(bytes, offset)
    if (offset < 0) return offset
    offset = skip(bytes, offset, isSpace)
    if (bytes[offset] !== colon) return malformed
    offset = skipValue(bytes, skip(bytes, offset + 1, isSpace), levels)
    if (offset < 0) return offset
    offset = skip(bytes, offset, isSpace)
    if (bytes[offset] === closeBrace) return offset + 1
    if (bytes[offset] !== comma) return malformed
    offset = skip(bytes, offset + 1, isSpace)
  }
}

/**
 * Checks whether bytes are one JSON text, in linear time and without creating values: a body of brackets costs JSON.parse fifty times as
 * much as a body of text.
 * @param bytes - Valid UTF-8.
 * @param maxDepth - How deep arrays and objects may be nested, at most 1,000: each level needs a stack frame.
 * @see RFC 8259
 */
export const checkJson = (bytes: Uint8Array, maxDepth: number): JsonCheck => {
  const end = skipValue(bytes, skip(bytes, 0, isSpace), maxDepth)
  if (end === tooDeep) return 'tooDeep'
  return end !== malformed && skip(bytes, end, isSpace) === bytes.length ? 'json' : 'malformed'
}
