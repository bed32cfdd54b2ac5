import { closeBracket, comma, isSpace, openBracket } from '../../../lib/json/characters.ts'

/** Gets the items of a JSON array as bytes, without its brackets; `undefined` if the value is not an array. */
export const getItems = (value: Buffer): Buffer | undefined => {
  if (value[0] !== openBracket || value.at(-1) !== closeBracket) return undefined
  let start = 1
  let end = value.length - 1
  while (start < end && isSpace(value[start] as number)) start += 1
  while (end > start && isSpace(value[end - 1] as number)) end -= 1
  return value.subarray(start, end)
}

/**
 * Joins the items of several JSON arrays into one array, byte for byte and without parsing them.
 * @param lists - What `getItems` returned for each array.
 */
export const joinArrays = (lists: readonly Buffer[]): Buffer => {
  const filled = lists.filter(({ length }) => length > 0)
  const joined = Buffer.allocUnsafeSlow(
    filled.reduce((bytes, { length }) => bytes + length + 1, filled.length > 0 ? 1 : 2),
  )
  let at = joined.writeUInt8(openBracket, 0)
  for (const [index, list] of filled.entries()) {
    if (index > 0) at = joined.writeUInt8(comma, at)
    at += list.copy(joined, at)
  }
  joined.writeUInt8(closeBracket, at)
  return joined
}
