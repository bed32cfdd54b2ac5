import type { RpcErrorObject } from './keyrailError.ts'

/** Where nodes and proxies put what a contract reverted with, in an error's data. */
const places = ['data', 'result', 'return', 'output', 'originalError', 'error']

/** What nests deeper is none of theirs. */
const MAX_DEPTH = 4

/** The bytes of a revert, written in one of the ways in which nodes write them. */
const revertData = (data: unknown, depth = 0): string | undefined => {
  if (typeof data === 'string') return /^(?:reverted )?(0x(?:[\da-f]{2})*)$/i.exec(data)?.[1]
  if (Object(data) !== data || depth >= MAX_DEPTH) return undefined
  const held = data as Readonly<Record<string, unknown>>
  for (const place of places) {
    const found = revertData(held[place], depth + 1)
    if (found !== undefined) return found
  }
  // Ganache once put it under the hash of the transaction.
  for (const [name, value] of Object.entries(held)) {
    const found = name.startsWith('0x') ? revertData(value, depth + 1) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Gives the error of a revert in the one form that libraries decode: code 3, a message that says `execution reverted`, and the revert's bytes
 * as hex. Nodes have at least four others, of which each library understands some.
 *
 * @param error - The error object of a failure of kind `revert`.
 * @returns The same object where it holds no bytes and does not speak of a revert, such as "out of gas".
 * @example
 * asRevert({ code: -32015, message: 'VM execution error.', data: 'Reverted 0x82b42900' })
 * // { code: 3, message: 'execution reverted', data: '0x82b42900' }
 * @see Geth's `revertError`, from which code 3 comes
 */
export function toRevert(error: RpcErrorObject): RpcErrorObject {
  const { message } = error
  const data = revertData(error.data) ?? /revert\w*:? (0x(?:[\da-f]{2}){4,})\b/i.exec(message)?.[1]
  if (data === undefined && !/revert/i.test(message)) return error
  return { code: 3, message: /revert/i.test(message) ? message : 'execution reverted', ...(data && { data }) }
}
