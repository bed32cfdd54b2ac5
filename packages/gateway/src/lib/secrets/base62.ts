import { crc32 } from 'node:zlib'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** How many characters `checksumOf` gives. */
export const checksumLength = 6

/** A number in base62, the lowest `length` digits of it. */
export const toBase62 = (value: bigint, length: number): string => {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = `${digits[Number(rest % 62n)]}${text}`
  return text
}

/** CRC-32 of a text as 6 base62 characters. */
export const checksumOf = (text: string): string => {
  let rest = crc32(text)
  let sum = ''
  for (let place = 0; place < checksumLength; place += 1) {
    sum = `${digits[rest % 62]}${sum}`
    rest = Math.floor(rest / 62)
  }
  return sum
}
