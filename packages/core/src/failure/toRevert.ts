import type { RpcErrorObject } from './keyrailError.ts'

/** The members of an error's data in which nodes and proxies put the revert data. */
const members = ['data', 'result', 'return', 'output', 'originalError', 'error']

/** No known node nests revert data deeper. */
const MAX_DEPTH = 4

/** Finds the bytes of a revert in any of the forms that nodes use. */
const findRevertData = (data: unknown, depth = 0): string | undefined => {
  if (typeof data === 'string') return /^(?:reverted )?(0x(?:[\da-f]{2})*)$/i.exec(data)?.[1]
  if (Object(data) !== data || depth >= MAX_DEPTH) return undefined
  const fields = data as Readonly<Record<string, unknown>>
  for (const member of members) {
    const found = findRevertData(fields[member], depth + 1)
    if (found !== undefined) return found
  }
  // Old versions of Ganache use the hash of the transaction as the name.
  for (const [name, value] of Object.entries(fields)) {
    const found = name.startsWith('0x') ? findRevertData(value, depth + 1) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Converts the error of a revert to the form that all libraries decode: code 3, a message that contains "revert", and the revert data as hex. Nodes
 * use at least four other forms, and each library understands only some of them.
 *
 * @param error - The error object of a failure of kind `revert`.
 * @returns The converted error; the same object if it has no revert data and does not mention a revert, such as "out of gas".
 * @example
 * toRevert({ code: -32015, message: 'VM execution error.', data: 'Reverted 0x82b42900' })
 * // { code: 3, message: 'execution reverted', data: '0x82b42900' }
 * @see Geth's `revertError`, from which code 3 comes
 */
export function toRevert(error: RpcErrorObject): RpcErrorObject {
  const { message } = error
  const data = findRevertData(error.data) ?? /revert\w{0,20}:? (0x(?:[\da-f]{2}){4,})\b/i.exec(message)?.[1]
  if (data === undefined && !/revert/i.test(message)) return error
  return { code: 3, message: /revert/i.test(message) ? message : 'execution reverted', ...(data && { data }) }
}
