import { check, invalid } from '../failure/invalid.ts'
import type { Call, CallOptions, Carry, RequestArguments } from './call.ts'
import { checkTimeout } from './deadline.ts'

/** How a call is made from outside. */
export type Request = (args: RequestArguments, options?: CallOptions) => Promise<unknown>

/** Writes params as JSON text; what was left out at the end is left out on the wire. */
const writeParams = (method: string, params: readonly unknown[] = []): string => {
  try {
    let { length } = params
    while (length && params[length - 1] === undefined) length--
    if (Array.isArray(params)) return JSON.stringify(params.slice(0, length))
  } catch {}
  throw invalid(`params of ${method} must be an array of JSON values; numbers travel as hex, such as '0x10'`)
}

/**
 * Makes the one Promise of a call, and the record that the layers share.
 *
 * @param carry - The outermost layer.
 * @param live - Holds the calls under way, so that closing can end them.
 */
export function createDoor(carry: Carry, live?: Set<Call>): Request {
  return (args, options) =>
    new Promise((resolve, reject) => {
      const { method, params } = Object(args) as RequestArguments
      check(method && typeof method === 'string', 'request takes { method, params }')
      const { signal, timeoutMs } = options ?? {}
      checkTimeout(timeoutMs)
      const call: Call = {
        method,
        params: writeParams(method, params),
        timeoutMs,
        deadlineAt: Infinity,
        ended: false,
        cancel: undefined,
      }
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
