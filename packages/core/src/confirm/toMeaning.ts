import { toRevert } from '../failure/toRevert.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import type { RpcErrorObject } from '../failure/keyrailError.ts'
import { toMethodMap } from '../schema/methodGroups.ts'
import { quantityMethods } from '../schema/methodSlice.ts'
import { clientMembers } from './clientMembers.ts'
import { quantityNames } from './quantityNames.ts'

const withQuantity = /* @__PURE__ */ toMethodMap(quantityMethods)

const hex = /^0x[\da-f]*$/i

/**
 * Writes a result so that results that mean the same are the same text: with sorted members, hex in lower case, quantities without leading zeros,
 * and without members that are `null` or that only some clients send.
 *
 * @param result - Parsed JSON.
 * @param method - The method of the call. It decides whether a result that is no object is a quantity or data.
 * @returns The text; undefined if the result is nested too deep to compare.
 * @example
 * toMeaning('0x00Ff', 'eth_getBalance') // '"0xff"'
 * toMeaning('0x00Ff', 'eth_call') // '"0x00ff"'
 */
export function toMeaning(result: unknown, method: string): string | undefined {
  try {
    return write(result, withQuantity.has(method))
  } catch {
    // A RangeError: the stack is full.
    return undefined
  }
}

/**
 * Writes a failure so that failures that mean the same are the same text: its kind and, for a revert, the revert data. Each client has its own words.
 *
 * @param kind - The kind of the failure.
 * @param error - The error object of the node.
 * @example
 * toFailureMeaning('revert', { code: -32000, message: 'execution reverted: no', data: '0x08C379A0' }) // 'revert 0x08c379a0'
 */
export function toFailureMeaning(kind: FailureKind, error: RpcErrorObject): string {
  if (kind !== 'revert') return kind
  const { data } = toRevert(error)
  return `revert ${typeof data === 'string' ? data.toLowerCase() : '0x'}`
}

const write = (value: unknown, isQuantity: boolean): string => {
  if (Array.isArray(value)) return `[${value.map((item) => write(item, isQuantity)).join()}]`
  if (typeof value === 'object' && value !== null) return writeObject(value)
  if (typeof value === 'string') return JSON.stringify(hex.test(value) ? writeHex(value, isQuantity) : value)
  if (isQuantity && typeof value === 'number' && Number.isSafeInteger(value)) return `"0x${value.toString(16)}"`
  return JSON.stringify(value)
}

const writeHex = (value: string, isQuantity: boolean): string => {
  const lower = value.toLowerCase()
  return isQuantity ? `0x${lower.slice(2).replace(/^0+/, '') || '0'}` : lower
}

const writeObject = (value: object): string => {
  const members = Object.entries(value).filter(([name, member]) => member !== null && !clientMembers.has(name))
  members.sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(member, quantityNames.has(name))}`).join()}}`
}
