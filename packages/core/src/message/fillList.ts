/** Methods whose result is a list, and `null` has no other meaning. */
const listMethods: ReadonlySet<string> = new Set([
  'eth_accounts',
  'eth_getFilterChanges',
  'eth_getFilterLogs',
  'eth_getLogs',
])

/**
 * Replaces `null` by an empty list: some nodes return it for a range without logs.
 *
 * @param method - The method of the call.
 * @param result - Its result.
 */
export const fillList = (method: string, result: unknown): unknown =>
  result === null && listMethods.has(method) ? [] : result
