/** Whether bytes are JSON: yes, no, or not known because they are nested too deeply to look further. */
export type JsonCheck = 'json' | 'malformed' | 'tooDeep'

const quote = 34
const plus = 43
const comma = 44
const minus = 45
const dot = 46
const zero = 48
const colon = 58
const upperE = 69
const backslash = 92
const openBracket = 91
const closeBracket = 93
const lowerE = 101
const lowerU = 117
const openBrace = 123
const closeBrace = 125

/** The places that the functions below return instead of a place in the bytes. */
const malformed = -1
const tooDeep = -2

const asTable = (isIn: (code: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, code) => (isIn(code) ? 1 : 0))

const isSpace = asTable((code) => code === 32 || code === 10 || code === 13 || code === 9)
const isDigit = asTable((code) => code >= zero && code < zero + 10)
const isHex = asTable((code) => /[0-9a-fA-F]/.test(String.fromCharCode(code)))
/** The bytes of a string that are neither its end nor an escape, all of UTF-8 included. */
const isPlain = asTable((code) => code >= 32 && code !== quote && code !== backslash)
const isEscape = asTable((code) => '"\\/bfnrt'.includes(String.fromCharCode(code)))

const words: ReadonlyMap<number, Uint8Array> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]),
)

/** The place of the first byte at or after `at` that is not in the table. */
const skip = (bytes: Uint8Array, at: number, table: Uint8Array): number => {
  let place = at
  while (place < bytes.length && table[bytes[place] as number] === 1) place += 1
  return place
}

const skipWord = (bytes: Uint8Array, at: number): number => {
  const word = words.get(bytes[at] as number)
  if (word === undefined) return malformed
  for (let index = 1; index < word.length; index += 1) if (bytes[at + index] !== word[index]) return malformed
  return at + word.length
}

/** The place after one digit or more. */
const skipDigits = (bytes: Uint8Array, at: number): number => {
  const end = skip(bytes, at, isDigit)
  return end === at ? malformed : end
}

const skipNumber = (bytes: Uint8Array, at: number): number => {
  const first = bytes[at] === minus ? at + 1 : at
  let place = bytes[first] === zero ? first + 1 : skipDigits(bytes, first)
  if (place !== malformed && bytes[place] === dot) place = skipDigits(bytes, place + 1)
  if (place !== malformed && (bytes[place] === lowerE || bytes[place] === upperE)) {
    const hasSign = bytes[place + 1] === plus || bytes[place + 1] === minus
    place = skipDigits(bytes, hasSign ? place + 2 : place + 1)
  }
  return place
}

const skipString = (bytes: Uint8Array, at: number): number => {
  let place = at + 1
  for (;;) {
    place = skip(bytes, place, isPlain)
    if (bytes[place] === quote) return place + 1
    // A control character, or the end.
    if (bytes[place] !== backslash) return malformed
    const escape = bytes[place + 1]
    if (escape === undefined) return malformed
    if (escape === lowerU) {
      for (let digit = 2; digit < 6; digit += 1) if (isHex[bytes[place + digit] ?? 0] !== 1) return malformed
      place += 6
    } else if (isEscape[escape] === 1) place += 2
    else return malformed
  }
}

/** @param levels - How many more levels may open. */
const skipValue = (bytes: Uint8Array, at: number, levels: number): number => {
  const first = bytes[at]
  if (first === undefined) return malformed
  if (first === quote) return skipString(bytes, at)
  if (first === openBrace || first === openBracket) {
    if (levels === 0) return tooDeep
    return first === openBrace ? skipObject(bytes, at, levels - 1) : skipArray(bytes, at, levels - 1)
  }
  return first === minus || isDigit[first] === 1 ? skipNumber(bytes, at) : skipWord(bytes, at)
}

const skipArray = (bytes: Uint8Array, at: number, levels: number): number => {
  let place = skip(bytes, at + 1, isSpace)
  if (bytes[place] === closeBracket) return place + 1
  for (;;) {
    place = skipValue(bytes, place, levels)
    if (place < 0) return place
    place = skip(bytes, place, isSpace)
    if (bytes[place] === closeBracket) return place + 1
    if (bytes[place] !== comma) return malformed
    place = skip(bytes, place + 1, isSpace)
  }
}

const skipObject = (bytes: Uint8Array, at: number, levels: number): number => {
  let place = skip(bytes, at + 1, isSpace)
  if (bytes[place] === closeBrace) return place + 1
  for (;;) {
    if (bytes[place] !== quote) return malformed
    place = skipString(bytes, place)
    if (place < 0) return place
    place = skip(bytes, place, isSpace)
    if (bytes[place] !== colon) return malformed
    place = skipValue(bytes, skip(bytes, place + 1, isSpace), levels)
    if (place < 0) return place
    place = skip(bytes, place, isSpace)
    if (bytes[place] === closeBrace) return place + 1
    if (bytes[place] !== comma) return malformed
    place = skip(bytes, place + 1, isSpace)
  }
}

/**
 * Checks whether bytes are one JSON text, in time that grows with their number alone and without making values of them: a body of
 * brackets costs JSON.parse fifty times as much as a body of text.
 * @param bytes - UTF-8, checked before.
 * @param maxDepth - How many arrays and objects may be nested in each other, at most 1,000: each takes a frame of the stack.
 * @see RFC 8259
 */
export const checkJson = (bytes: Uint8Array, maxDepth: number): JsonCheck => {
  const end = skipValue(bytes, skip(bytes, 0, isSpace), maxDepth)
  if (end === tooDeep) return 'tooDeep'
  return end !== malformed && skip(bytes, end, isSpace) === bytes.length ? 'json' : 'malformed'
}
