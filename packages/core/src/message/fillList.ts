import { hasFlag } from '../schema/methodFlags.ts'

/**
 * Replaces `null` by an empty list, for methods whose result is a list: some nodes return it for a range without logs.
 *
 * @param method - The method of the call.
 * @param result - Its result.
 */
export const fillList = (method: string, result: unknown): unknown =>
  result === null && hasFlag(method, 'l') ? [] : result
