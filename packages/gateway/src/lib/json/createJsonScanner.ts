import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  dot,
  isDigit,
  isEscape,
  isHex,
  isSpace,
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

/** Receives the members of the outermost object while the text is scanned. Offsets are in bytes from the start of the text. */
export interface MemberListener {
  /** Called with the unescaped name of a member; `undefined` if it is longer than any name that matters. */
  readonly name: (name: string | undefined) => void
  /** Called with the offset at which the value of the last name starts. */
  readonly start: (offset: number) => void
  /** Called with the offset after that value. */
  readonly end: (offset: number) => void
}

/** Validates a JSON text while its bytes arrive. */
export interface JsonScanner {
  /** Scans the next bytes. @returns False once the bytes so far cannot be the start of a JSON text. */
  readonly push: (chunk: Uint8Array) => boolean
  /** Whether the bytes so far are one complete JSON text. */
  readonly end: () => boolean
}

const inValue = 0
const inFirstItem = 1
const inFirstName = 2
const inName = 3
const inColon = 4
const afterValue = 5
const inString = 6
const inEscape = 7
const inHex = 8
const inUtf8 = 9
const inLiteral = 10
const afterAll = 11
const broken = 12
const inMinus = 13
const inDot = 14
const inExponent = 15
const inExponentSign = 16
// A number may end in this state or in any below.
const inZero = 17
const inWhole = 18
const inFraction = 19
const inExponentDigits = 20

/** Bytes without a special meaning in a string: ASCII except control characters, the quote and the backslash. */
const plain = new Uint8Array(256).fill(1, 32, 128)
plain[quote] = 0
plain[backslash] = 0

/** No name that matters is longer, even if each character is escaped. */
const longestName = 64
const firstDepth = 64

/**
 * Creates a scanner that accepts what JSON.parse accepts, in UTF-8, without creating values. So a text of any size is validated chunk by
 * chunk. Memory only grows with the depth: one byte a level.
 * @param listener - Receives the members of the outermost object.
 * @see RFC 8259
 */
export const createJsonScanner = (listener?: MemberListener): JsonScanner => {
  let state = inValue
  /** Whether each open level is an object; the outermost is at 1. */
  let levels = new Uint8Array(firstDepth)
  let depth = 0
  let before = 0
  let isName = false
  let name = ''
  let hexLeft = 0
  let utf8Left = 0
  let utf8From = 0x80
  let utf8To = 0xbf
  let literal: Uint8Array = plain
  let literalAt = 0

  const enter = (isObject: boolean): number => {
    depth += 1
    if (depth === levels.length) {
      const wider = new Uint8Array(levels.length * 2)
      wider.set(levels)
      levels = wider
    }
    levels[depth] = isObject ? 1 : 0
    return isObject ? inFirstName : inFirstItem
  }
  /** Called after a value. `offset` is the position after it. */
  const leave = (offset: number): number => {
    if (depth === 0) return afterAll
    if (depth === 1 && levels[1] === 1) listener?.end(offset)
    return afterValue
  }
  const close = (isObject: boolean, offset: number): number => {
    if ((levels[depth] === 1) !== isObject) return broken
    depth -= 1
    return leave(offset)
  }
  const startValue = (byte: number, offset: number): number => {
    if (depth === 1 && levels[1] === 1) listener?.start(offset)
    if (byte === quote) {
      isName = false
      return inString
    }
    if (byte === openBrace) return enter(true)
    if (byte === openBracket) return enter(false)
    if (byte === minus) return inMinus
    if (byte === zero) return inZero
    if (isDigit(byte)) return inWhole
    const bytes = literals.get(byte)
    if (bytes === undefined) return broken
    literal = bytes
    literalAt = 1
    return inLiteral
  }
  const startName = (byte: number): number => {
    if (byte !== quote) return broken
    isName = true
    name = ''
    return inString
  }
  const endString = (offset: number): number => {
    if (!isName) return leave(offset)
    if (depth === 1) listener?.name(name.length > longestName ? undefined : unescapeName(name))
    return inColon
  }
  /**
   * The first byte of a multi-byte character. The range of the second byte excludes overlong forms, surrogates and characters above U+10FFFF.
   */
  const startUtf8 = (byte: number): number => {
    if (byte < 0xc2 || byte > 0xf4) return broken
    utf8Left = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
    utf8From = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80
    utf8To = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf
    return inUtf8
  }
  const afterNumber = (byte: number, offset: number): number => {
    if (isDigit(byte) && state !== inZero) return state
    if (byte === dot && (state === inZero || state === inWhole)) return inDot
    if ((byte === lowerE || byte === upperE) && state !== inExponentDigits) return inExponent
    const next = leave(offset)
    return next === afterAll ? (isSpace(byte) ? afterAll : broken) : afterItem(byte, offset)
  }
  const afterItem = (byte: number, offset: number): number => {
    if (byte === comma) return levels[depth] === 1 ? inName : inValue
    if (byte === closeBrace) return close(true, offset + 1)
    if (byte === closeBracket) return close(false, offset + 1)
    return isSpace(byte) ? afterValue : broken
  }
  const step = (byte: number, offset: number): number => {
    switch (state) {
      case inValue:
        return isSpace(byte) ? inValue : startValue(byte, offset)
      case inFirstItem:
        if (byte === closeBracket) return close(false, offset + 1)
        return isSpace(byte) ? inFirstItem : startValue(byte, offset)
      case inFirstName:
        if (byte === closeBrace) return close(true, offset + 1)
        return isSpace(byte) ? inFirstName : startName(byte)
      case inName:
        return isSpace(byte) ? inName : startName(byte)
      case inColon:
        if (byte === colon) return inValue
        return isSpace(byte) ? inColon : broken
      case afterValue:
        return afterItem(byte, offset)
      case inString:
        if (byte === quote) return endString(offset + 1)
        if (byte === backslash) return inEscape
        if (byte >= 0x80) return startUtf8(byte)
        return plain[byte] === 1 ? inString : broken
      case inEscape:
        hexLeft = 4
        if (byte === lowerU) return inHex
        return isEscape(byte) ? inString : broken
      case inHex:
        if (!isHex(byte)) return broken
        hexLeft -= 1
        return hexLeft === 0 ? inString : inHex
      case inUtf8:
        if (byte < utf8From || byte > utf8To) return broken
        utf8From = 0x80
        utf8To = 0xbf
        utf8Left -= 1
        return utf8Left === 0 ? inString : inUtf8
      case inLiteral:
        if (byte !== literal[literalAt]) return broken
        literalAt += 1
        return literalAt === literal.length ? leave(offset + 1) : inLiteral
      case afterAll:
        return isSpace(byte) ? afterAll : broken
      case inMinus:
        if (byte === zero) return inZero
        return isDigit(byte) ? inWhole : broken
      case inDot:
        return isDigit(byte) ? inFraction : broken
      case inExponent:
        if (byte === plus || byte === minus) return inExponentSign
        return isDigit(byte) ? inExponentDigits : broken
      case inExponentSign:
        return isDigit(byte) ? inExponentDigits : broken
      case inZero:
      case inWhole:
      case inFraction:
      case inExponentDigits:
        return afterNumber(byte, offset)
      default:
        return broken
    }
  }

  return {
    push: (chunk) => {
      const { length } = chunk
      for (let at = 0; at < length && state !== broken; at += 1) {
        const byte = chunk[at] as number
        if (state >= inString && state <= inUtf8 && isName && depth === 1) {
          if (name.length <= longestName && (byte !== quote || state !== inString)) name += String.fromCharCode(byte)
        } else if (state === inString && plain[byte] === 1) {
          // Most bytes of a large response are in strings, so this loop is where the time goes.
          while (at + 1 < length && plain[chunk[at + 1] as number] === 1) at += 1
          continue
        }
        state = step(byte, before + at)
      }
      before += length
      return state !== broken
    },
    end: () => state === afterAll || (depth === 0 && state >= inZero),
  }
}

const unescapeName = (source: string): string =>
  source.includes('\\') ? (JSON.parse(`"${source}"`) as string) : source

/** Whether bytes are one complete JSON text in UTF-8. */
export const isJson = (bytes: Uint8Array): boolean => {
  const scanner = createJsonScanner()
  return scanner.push(bytes) && scanner.end()
}
