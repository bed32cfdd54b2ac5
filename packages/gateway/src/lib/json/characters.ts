// Character codes of JSON's grammar: RFC 8259 section 2.

export const quote = 34
export const plus = 43
export const comma = 44
export const minus = 45
export const dot = 46
export const zero = 48
export const colon = 58
export const upperE = 69
export const openBracket = 91
export const backslash = 92
export const closeBracket = 93
export const lowerE = 101
export const lowerU = 117
export const openBrace = 123
export const closeBrace = 125

/** The bytes of `true`, `false` and `null` by their first character. */
export const literals: ReadonlyMap<number, Uint8Array> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]),
)

/** Whether a character may follow a backslash, besides `u`. */
export const isEscape = (code: number): boolean => escapes.has(code)
const escapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'))

/** Whether a character is white space. */
export const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

export const isDigit = (code: number): boolean => code >= zero && code <= 57

export const isHex = (code: number): boolean =>
  isDigit(code) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70)
