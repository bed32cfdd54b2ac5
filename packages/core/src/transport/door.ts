import { check } from '../failure/invalid.ts'
import { checkTimeout } from './deadline.ts'
import type { Call, CallOptions, Carry, RequestArguments } from './call.ts'

/** How a call is made from outside. */
export type Request = (args: RequestArguments, options?: CallOptions) => Promise<unknown>

/** Params as JSON text, without what was left out at the end; empty where they cannot be. */
const writeParams = (params: readonly unknown[]): string => {
  if (!Array.isArray(params)) return ''
  let end = params.length
  while (end > 0 && params[end - 1] === undefined) end--
  try {
    return JSON.stringify(params.slice(0, end))
  } catch {
    // A bigint, or an object that holds itself.
    return ''
  }
}

/**
 * Makes the one Promise of a call, and the record that the layers share.
 *
 * @param carry - The outermost layer.
 * @param live - Holds the calls under way, so that closing can end them.
 */
export function createDoor(carry: Carry, live?: Set<Call>): Request {
  return (args, options = {}) =>
    new Promise((resolve, reject) => {
      const { method, params = [] } = Object(args) as RequestArguments
      const { signal } = options
      checkTimeout(options.timeoutMs)
      const text = writeParams(params)
      check(
        text && method && typeof method === 'string',
        'request takes { method, params }, params an array of JSON values, with numbers as hex',
      )
      const call: Call = { method, params: text, options, deadlineAt: Infinity, ended: false, cancel: undefined }
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        call.ended = true
        call.cancel?.(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort)
      live?.add(call)
      carry(call, (ok, value) => {
        signal?.removeEventListener('abort', onAbort)
        live?.delete(call)
        call.cancel = undefined
        ;(ok ? resolve : reject)(value)
      })
    })
}
