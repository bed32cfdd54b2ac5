/**
 * Copies a text. A slice keeps the whole text in memory that it was cut from, and so does a text that was joined from slices: as the key of a map,
 * the params of a call would keep its body.
 */
export const copyText = (text: string): string => Buffer.from(text).toString()
