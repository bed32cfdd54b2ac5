/** Told of the members of a text's outermost object as they are met. Places are counted in bytes from the text's beginning. */
export interface MemberListener {
  /** A name, unescaped; `undefined` for one longer than any that is looked for. */
  readonly name: (name: string | undefined) => void
  /** Where the value of the last name begins. */
  readonly start: (place: number) => void
  /** The place after it. */
  readonly end: (place: number) => void
}

/** Reads a JSON text as its bytes come. */
export interface JsonScanner {
  /** Reads on. False once the bytes so far cannot begin a JSON text. */
  readonly push: (chunk: Uint8Array) => boolean
  /** Whether the bytes so far are one whole JSON text. */
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
// From here on a number may end.
const inZero = 17
const inWhole = 18
const inFraction = 19
const inExponentDigits = 20

const quote = 34
const backslash = 92
const openBracket = 91
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/** What stands for itself in a string: ASCII but for controls, the quote and the backslash. */
const plain = new Uint8Array(256).fill(1, 32, 128)
plain[quote] = 0
plain[backslash] = 0

const escapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'))
const literals: ReadonlyMap<number, Uint8Array> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]),
)

const isSpace = (byte: number): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9
const isDigit = (byte: number): boolean => byte >= 48 && byte <= 57
const isHex = (byte: number): boolean => isDigit(byte) || (byte >= 97 && byte <= 102) || (byte >= 65 && byte <= 70)

/** No name that is looked for is longer, even with each letter escaped. */
const longestName = 64
const firstDepth = 64

/**
 * Makes a scanner that takes what JSON.parse takes, in UTF-8, without making values of it: so a text of any size is proved well
 * formed piece by piece, in memory that grows with its depth alone (one byte a level).
 * @param listener - Told of the members of the outermost object.
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
  /** After a value, of which the next byte is no more part. */
  const leave = (place: number): number => {
    if (depth === 0) return afterAll
    if (depth === 1 && levels[1] === 1) listener?.end(place)
    return afterValue
  }
  const close = (isObject: boolean, place: number): number => {
    if ((levels[depth] === 1) !== isObject) return broken
    depth -= 1
    return leave(place)
  }
  const begin = (byte: number, place: number): number => {
    if (depth === 1 && levels[1] === 1) listener?.start(place)
    if (byte === quote) {
      isName = false
      return inString
    }
    if (byte === openBrace) return enter(true)
    if (byte === openBracket) return enter(false)
    if (byte === 45) return inMinus
    if (byte === 48) return inZero
    if (isDigit(byte)) return inWhole
    const word = literals.get(byte)
    if (word === undefined) return broken
    literal = word
    literalAt = 1
    return inLiteral
  }
  const beginName = (byte: number): number => {
    if (byte !== quote) return broken
    isName = true
    name = ''
    return inString
  }
  const endString = (place: number): number => {
    if (!isName) return leave(place)
    if (depth === 1) listener?.name(name.length > longestName ? undefined : unescaped(name))
    return inColon
  }
  /** The first byte of a character of several; which second bytes may follow keeps out overlong forms, surrogates and what is past U+10FFFF. */
  const beginUtf8 = (byte: number): number => {
    if (byte < 0xc2 || byte > 0xf4) return broken
    utf8Left = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
    utf8From = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80
    utf8To = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf
    return inUtf8
  }
  const afterNumber = (byte: number, place: number): number => {
    if (isDigit(byte) && state !== inZero) return state
    if (byte === 46 && (state === inZero || state === inWhole)) return inDot
    if ((byte === 101 || byte === 69) && state !== inExponentDigits) return inExponent
    const next = leave(place)
    return next === afterAll ? (isSpace(byte) ? afterAll : broken) : afterItem(byte, place)
  }
  const afterItem = (byte: number, place: number): number => {
    if (byte === 44) return levels[depth] === 1 ? inName : inValue
    if (byte === closeBrace) return close(true, place + 1)
    if (byte === closeBracket) return close(false, place + 1)
    return isSpace(byte) ? afterValue : broken
  }
  const step = (byte: number, place: number): number => {
    switch (state) {
      case inValue:
        return isSpace(byte) ? inValue : begin(byte, place)
      case inFirstItem:
        if (byte === closeBracket) return close(false, place + 1)
        return isSpace(byte) ? inFirstItem : begin(byte, place)
      case inFirstName:
        if (byte === closeBrace) return close(true, place + 1)
        return isSpace(byte) ? inFirstName : beginName(byte)
      case inName:
        return isSpace(byte) ? inName : beginName(byte)
      case inColon:
        if (byte === 58) return inValue
        return isSpace(byte) ? inColon : broken
      case afterValue:
        return afterItem(byte, place)
      case inString:
        if (byte === quote) return endString(place + 1)
        if (byte === backslash) return inEscape
        if (byte >= 0x80) return beginUtf8(byte)
        return plain[byte] === 1 ? inString : broken
      case inEscape:
        hexLeft = 4
        if (byte === 117) return inHex
        return escapes.has(byte) ? inString : broken
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
        return literalAt === literal.length ? leave(place + 1) : inLiteral
      case afterAll:
        return isSpace(byte) ? afterAll : broken
      case inMinus:
        if (byte === 48) return inZero
        return isDigit(byte) ? inWhole : broken
      case inDot:
        return isDigit(byte) ? inFraction : broken
      case inExponent:
        if (byte === 43 || byte === 45) return inExponentSign
        return isDigit(byte) ? inExponentDigits : broken
      case inExponentSign:
        return isDigit(byte) ? inExponentDigits : broken
      case inZero:
      case inWhole:
      case inFraction:
      case inExponentDigits:
        return afterNumber(byte, place)
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
          // Most of a large answer is within strings, so this is where the time goes.
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

const unescaped = (source: string): string => (source.includes('\\') ? (JSON.parse(`"${source}"`) as string) : source)

/** Whether bytes are one whole JSON text in UTF-8. */
export const isJson = (bytes: Uint8Array): boolean => {
  const scanner = createJsonScanner()
  return scanner.push(bytes) && scanner.end()
}
