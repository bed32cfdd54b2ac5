/** Where a value stands in a text: from `start` up to, not including, `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A member of an object: its name, unescaped, and where its value stands. */
export interface Member extends Span {
  readonly name: string
}

const quote = 34
const comma = 44
const colon = 58
const backslash = 92
const openBracket = 91
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

/** The place of the first character at or after `at` that is not JSON white space. */
export const skipSpace = (text: string, at: number): number => {
  let place = at
  while (isSpace(text.charCodeAt(place))) place += 1
  return place
}

/** The place after a string that begins at `at`, or -1. */
const skipString = (text: string, at: number): number => {
  let place = at + 1
  for (;;) {
    const end = text.indexOf('"', place)
    if (end === -1) return -1
    let before = end - 1
    while (text.charCodeAt(before) === backslash) before -= 1
    // An even run of backslashes escapes itself, so the quote is a real one.
    if ((end - 1 - before) % 2 === 0) return end + 1
    place = end + 1
  }
}

/**
 * The place after the value that begins at `at`, or -1. Keeps no stack, so depth costs nothing.
 * In a text that JSON.parse takes the place is exact. In any other text brackets are only counted, not paired.
 */
const skipValue = (text: string, at: number): number => {
  const first = text.charCodeAt(at)
  if (first === quote) return skipString(text, at)
  let place = at
  if (first !== openBrace && first !== openBracket) {
    for (;;) {
      const code = text.charCodeAt(place)
      if (!(code > 32) || code === comma || code === closeBrace || code === closeBracket) break
      place += 1
    }
    return place === at ? -1 : place
  }
  let depth = 0
  for (;;) {
    const code = text.charCodeAt(place)
    if (code === quote) {
      place = skipString(text, place)
      if (place === -1) return -1
      continue
    }
    if (Number.isNaN(code)) return -1
    place += 1
    if (code === openBrace || code === openBracket) depth += 1
    else if (code === closeBrace || code === closeBracket) {
      depth -= 1
      if (depth === 0) return place
    }
  }
}

const nameAt = (text: string, start: number, end: number): string | undefined => {
  const raw = text.slice(start + 1, end - 1)
  if (!raw.includes('\\')) return raw
  try {
    const name: unknown = JSON.parse(text.slice(start, end))
    return typeof name === 'string' ? name : undefined
  } catch {
    return undefined
  }
}

/**
 * Finds the members of the object that begins at `at`, without making values of them, so that a number too large for a double
 * or the spelling of a string stays what it was.
 * @param text - JSON text; where it is not known to be well formed the scan still ends, and what is no object gives `undefined`.
 * @param limit - An object with more members gives `undefined`, and is not read to its end. @default no limit
 * @returns The members in their order, repeated names included, and the place after the object.
 */
export const scanMembers = (
  text: string,
  at = 0,
  limit: number = Infinity,
): { members: Member[]; end: number } | undefined => {
  let place = skipSpace(text, at)
  if (text.charCodeAt(place) !== openBrace) return undefined
  const members: Member[] = []
  place = skipSpace(text, place + 1)
  if (text.charCodeAt(place) === closeBrace) return { members, end: place + 1 }
  for (;;) {
    if (text.charCodeAt(place) !== quote) return undefined
    const nameEnd = skipString(text, place)
    if (nameEnd === -1) return undefined
    const name = nameAt(text, place, nameEnd)
    place = skipSpace(text, nameEnd)
    if (name === undefined || text.charCodeAt(place) !== colon) return undefined
    const start = skipSpace(text, place + 1)
    const end = skipValue(text, start)
    if (end === -1) return undefined
    if (members.length === limit) return undefined
    members.push({ name, start, end })
    place = skipSpace(text, end)
    const code = text.charCodeAt(place)
    if (code === closeBrace) return { members, end: place + 1 }
    if (code !== comma) return undefined
    place = skipSpace(text, place + 1)
  }
}

/**
 * Finds the items of the array that begins at `at`.
 * @param text - JSON text, as for `scanMembers`.
 * @param limit - Items past this many are counted, not kept. @default no limit
 * @returns Where the items stand, and how many there are.
 */
export const scanItems = (
  text: string,
  at = 0,
  limit: number = Infinity,
): { items: Span[]; count: number; end: number } | undefined => {
  let place = skipSpace(text, at)
  if (text.charCodeAt(place) !== openBracket) return undefined
  const items: Span[] = []
  let count = 0
  place = skipSpace(text, place + 1)
  if (text.charCodeAt(place) === closeBracket) return { items, count, end: place + 1 }
  for (;;) {
    const end = skipValue(text, place)
    if (end === -1) return undefined
    count += 1
    if (count <= limit) items.push({ start: place, end })
    place = skipSpace(text, end)
    const code = text.charCodeAt(place)
    if (code === closeBracket) return { items, count, end: place + 1 }
    if (code !== comma) return undefined
    place = skipSpace(text, place + 1)
  }
}
