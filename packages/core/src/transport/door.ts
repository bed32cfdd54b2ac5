import { check } from '../failure/invalid.ts'
import type { Call, CallOptions, Carry, RequestArguments } from './call.ts'
import { checkCallOptions } from './checkCallOptions.ts'
import { createCall } from './createCall.ts'
import type { Together } from './createCall.ts'
import type { Lane } from './lane.ts'

/** How a call is made from outside. */
export type Request = (args: RequestArguments, options?: CallOptions) => Promise<unknown>

/** The same from inside, where calls can be tied together. */
export type Door = (args: RequestArguments, options?: CallOptions, together?: Together) => Promise<unknown>

const noParams: readonly unknown[] = []
const noOptions: CallOptions = {}

/** Params as JSON text, without what was left out at the end; empty where they cannot be. */
const writeParams = (params: readonly unknown[]): string => {
  if (!Array.isArray(params)) return ''
  let end = params.length
  while (end > 0 && params[end - 1] === undefined) end--
  try {
    return JSON.stringify(end < params.length ? params.slice(0, end) : params)
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
export function createDoor(carry: Carry, live?: Lane<Call>): Door {
  return (args, options, together) =>
    new Promise((resolve, reject) => {
      const { method, params = noParams } = Object(args) as RequestArguments
      const text = writeParams(params)
      check(method && typeof method === 'string', 'request takes { method, params }')
      check(text, `params of ${method} must be an array of JSON values; numbers travel as hex, such as '0x10'`)
      const call = createCall(method, text, options ?? noOptions, together)
      const { signal } = call.options
      call.startedAt = performance.now()
      let onAbort: (() => void) | undefined
      // Most calls have none, and are spared what follows.
      if (options) {
        checkCallOptions(options)
        // Until a deadline is set: what stands above it, a layer of a user for example, waits no longer than this.
        if (options.timeoutMs) call.deadlineAt = call.startedAt + options.timeoutMs
        if (signal?.aborted) return reject(signal.reason)
        onAbort = (): void => {
          call.ended = true
          call.cancel?.(signal?.reason)
        }
        signal?.addEventListener('abort', onAbort)
      }
      live?.enter(call)
      carry(call, (ok, value) => {
        if (onAbort) signal?.removeEventListener('abort', onAbort)
        live?.leave(call)
        call.cancel = undefined
        ;(ok ? resolve : reject)(value)
      })
    })
}
