import { crc32 } from 'node:zlib'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The length of a checksum, in characters. */
export const checksumLength = 6

/** Converts a number to base62: its lowest `length` digits. */
export const toBase62 = (value: bigint, length: number): string => {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = `${digits[Number(rest % 62n)]}${text}`
  return text
}

/** Gets the CRC-32 of a text as 6 base62 characters. */
export const getChecksum = (text: string): string => {
  let rest = crc32(text)
  let sum = ''
  for (let index = 0; index < checksumLength; index += 1) {
    sum = `${digits[rest % 62]}${sum}`
    rest = Math.floor(rest / 62)
  }
  return sum
}
