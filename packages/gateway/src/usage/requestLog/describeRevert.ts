import { toRevert } from '@keyrail/core/internal'
import { getErrorName } from './knownErrors.ts'

/** The codes of `Panic(uint256)`. Source: the Solidity documentation, "Panic via assert and Error via require". */
const panics: Readonly<Record<number, string>> = {
  0x00: 'a generic panic of the compiler',
  0x01: 'an assertion failed',
  0x11: 'arithmetic overflow or underflow',
  0x12: 'division or modulo by zero',
  0x21: 'an invalid enum value',
  0x22: 'an incorrectly encoded storage byte array',
  0x31: 'pop on an empty array',
  0x32: 'an array index out of bounds',
  0x41: 'too much memory was allocated',
  0x51: 'a call to an uninitialized internal function',
}

const wordLength = 64
const anyData = /"data"\s*:\s*"(?:reverted )?(0x[\da-f]*)/i

/**
 * Finds the revert data in the source text of an error, which may be cut.
 * @returns Hex with `0x`; `undefined` if there is none.
 */
export const findRevertData = (text: string): string | undefined => {
  try {
    const { data } = toRevert(JSON.parse(text) as Parameters<typeof toRevert>[0])
    return typeof data === 'string' ? data : undefined
  } catch {
    return anyData.exec(text)?.[1]
  }
}

/** Decodes the first argument of `Error(string)`. @param args - Hex, which may be cut. */
const decodeText = (args: string): string | undefined => {
  const offset = Number(`0x${args.slice(0, wordLength)}`) * 2
  const length = Number(`0x${args.slice(offset, offset + wordLength)}`) * 2
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length)) return undefined
  const start = offset + wordLength
  return Buffer.from(args.slice(start, start + length), 'hex').toString()
}

const describeData = (data: string): string | undefined => {
  const selector = data.slice(0, 10).toLowerCase()
  const args = data.slice(10)
  if (selector.length < 10) return undefined
  if (selector === '0x08c379a0') return decodeText(args)
  if (selector === '0x4e487b71') {
    const code = Number(`0x${args.slice(0, wordLength)}`)
    if (!Number.isSafeInteger(code)) return undefined
    return `panic 0x${code.toString(16).padStart(2, '0')}: ${panics[code] ?? 'an unknown code'}`
  }
  const name = getErrorName(selector)
  return name === undefined ? `custom error ${selector}` : `${name} (${selector})`
}

/**
 * Describes a revert in one line: with its reason if it has `Error(string)`, with the meaning of the code if it has `Panic(uint256)`, otherwise with
 * the selector of the custom error, and its name if it is widely used.
 * @param data - Hex with `0x`, which may be cut.
 * @returns `undefined` if the data says nothing: the node's message is all that is known.
 * @example
 * describeRevert('0x82b42900') // 'execution reverted: Unauthorized (0x82b42900)'
 */
export const describeRevert = (data: string): string | undefined => {
  const reason = describeData(data)
  return reason === undefined ? undefined : `execution reverted: ${reason}`
}
