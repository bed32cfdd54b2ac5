import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isSpace,
  openBrace,
  openBracket,
  quote,
} from './characters.ts'

/** The position of a value in a text: from `start` to `end`, exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A member of an object: its unescaped name and the position of its value. */
export interface Member extends Span {
  readonly name: string
}

/** @returns The offset of the first character at or after `at` that is not JSON white space. */
export const skipSpace = (text: string, at: number): number => {
  let offset = at
  while (isSpace(text.charCodeAt(offset))) offset += 1
  return offset
}

/** @returns The offset after the string that starts at `at`, or -1. */
const skipString = (text: string, at: number): number => {
  let offset = at + 1
  for (;;) {
    const end = text.indexOf('"', offset)
    if (end === -1) return -1
    let before = end - 1
    while (text.charCodeAt(before) === backslash) before -= 1
    // After an even number of backslashes, the quote is not escaped.
    if ((end - 1 - before) % 2 === 0) return end + 1
    offset = end + 1
  }
}

/**
 * Skips the value that starts at `at`. Needs no stack, so any depth is fine.
 * @returns The offset after it, or -1. Exact for valid JSON. In any other text, brackets are counted but not matched.
 */
const skipValue = (text: string, at: number): number => {
  const first = text.charCodeAt(at)
  if (first === quote) return skipString(text, at)
  let offset = at
  if (first !== openBrace && first !== openBracket) {
    for (;;) {
      const code = text.charCodeAt(offset)
      if (!(code > 32) || code === comma || code === closeBrace || code === closeBracket) break
      offset += 1
    }
    return offset === at ? -1 : offset
  }
  let depth = 0
  for (;;) {
    const code = text.charCodeAt(offset)
    if (code === quote) {
      offset = skipString(text, offset)
      if (offset === -1) return -1
      continue
    }
    if (Number.isNaN(code)) return -1
    offset += 1
    if (code === openBrace || code === openBracket) depth += 1
    else if (code === closeBrace || code === closeBracket) {
      depth -= 1
      if (depth === 0) return offset
    }
  }
}

const parseName = (text: string, start: number, end: number): string | undefined => {
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
 * Finds the members of the object that starts at `at`, without creating values. So a number too large for a double, or the spelling of a
 * string, is preserved.
 * @param text - JSON text. The scan also ends if it is malformed.
 * @param limit - The scan stops if the object has more members. @default no limit
 * @returns The members in order, including repeated names, and the offset after the object. `undefined` if there is no object, or it has
 * too many members.
 */
export const scanMembers = (
  text: string,
  at = 0,
  limit: number = Infinity,
): { members: Member[]; end: number } | undefined => {
  let offset = skipSpace(text, at)
  if (text.charCodeAt(offset) !== openBrace) return undefined
  const members: Member[] = []
  offset = skipSpace(text, offset + 1)
  if (text.charCodeAt(offset) === closeBrace) return { members, end: offset + 1 }
  for (;;) {
    if (text.charCodeAt(offset) !== quote) return undefined
    const nameEnd = skipString(text, offset)
    if (nameEnd === -1) return undefined
    const name = parseName(text, offset, nameEnd)
    offset = skipSpace(text, nameEnd)
    if (name === undefined || text.charCodeAt(offset) !== colon) return undefined
    const start = skipSpace(text, offset + 1)
    const end = skipValue(text, start)
    if (end === -1) return undefined
    if (members.length === limit) return undefined
    members.push({ name, start, end })
    offset = skipSpace(text, end)
    const code = text.charCodeAt(offset)
    if (code === closeBrace) return { members, end: offset + 1 }
    if (code !== comma) return undefined
    offset = skipSpace(text, offset + 1)
  }
}

/** Gets the source text of a member of the object that starts at `at`; `undefined` if there is none with this name, or several. */
export const getMember = (text: string, name: string, at = 0, limit = Infinity): string | undefined => {
  const [only, another] = scanMembers(text, at, limit)?.members.filter((member) => member.name === name) ?? []
  return only === undefined || another !== undefined ? undefined : text.slice(only.start, only.end)
}

/**
 * Finds the items of the array that starts at `at`.
 * @param text - JSON text, as for `scanMembers`.
 * @param limit - Items beyond this many are counted but not returned. @default no limit
 * @returns The positions of the items, the number of items, and the offset after the array. `undefined` if there is no array.
 */
export const scanItems = (
  text: string,
  at = 0,
  limit: number = Infinity,
): { items: Span[]; count: number; end: number } | undefined => {
  let offset = skipSpace(text, at)
  if (text.charCodeAt(offset) !== openBracket) return undefined
  const items: Span[] = []
  let count = 0
  offset = skipSpace(text, offset + 1)
  if (text.charCodeAt(offset) === closeBracket) return { items, count, end: offset + 1 }
  for (;;) {
    const end = skipValue(text, offset)
    if (end === -1) return undefined
    count += 1
    if (count <= limit) items.push({ start: offset, end })
    offset = skipSpace(text, end)
    const code = text.charCodeAt(offset)
    if (code === closeBracket) return { items, count, end: offset + 1 }
    if (code !== comma) return undefined
    offset = skipSpace(text, offset + 1)
  }
}
