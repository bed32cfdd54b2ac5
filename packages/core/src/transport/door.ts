import { check, checkNames } from '../failure/invalid.ts'
import { checkTimeout } from './deadline.ts'
import type { Call, CallOptions, Carry, RequestArguments } from './call.ts'
import { createCall } from './createCall.ts'

/** How a call is made from outside. */
export type Request = (args: RequestArguments, options?: CallOptions) => Promise<unknown>

/** The same from inside, where calls can be tied together. */
export type Door = (args: RequestArguments, options?: CallOptions, together?: Together) => Promise<unknown>

/** What calls are made with that callers cannot say themselves. */
export interface Together {
  readonly group?: object | undefined
  readonly batch?: object | undefined
}

const callOptions: readonly (keyof CallOptions)[] = ['signal', 'timeoutMs', 'priority', 'minBlock']

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
export function createDoor(carry: Carry, live?: Set<Call>): Door {
  return (args, options = {}, together) =>
    new Promise((resolve, reject) => {
      const { method, params = [] } = Object(args) as RequestArguments
      const { signal } = options
      checkNames('a call', options, callOptions)
      checkTimeout(options.timeoutMs)
      const text = writeParams(params)
      check(method && typeof method === 'string', 'request takes { method, params }')
      check(text, `params of ${method} must be an array of JSON values; numbers travel as hex, such as '0x10'`)
      const call = createCall(method, text, options)
      if (together) Object.assign(call, together)
      // Until a deadline is set: what stands above it, a layer of a user for example, waits no longer than this.
      if (options.timeoutMs) call.deadlineAt = performance.now() + options.timeoutMs
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
