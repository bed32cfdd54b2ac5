import { now } from '../../clock/now.ts'
import { check } from '../../failure/check.ts'
import { KeyrailError } from '../../failure/keyrailError.ts'
import { rejectFromCaller } from '../../failure/rejectFromCaller.ts'
import type { Call, CallOptions, Send, RequestArguments, Complete } from './call.ts'
import { checkCallOptions } from './checkCallOptions.ts'
import { createCall } from './createCall.ts'
import type { Together } from './createCall.ts'
import type { Holder } from './queue.ts'
import { writeParams } from './writeParams.ts'

/** Starts a call. */
export type RawRequest = (args: RequestArguments, options?: CallOptions) => Promise<unknown>

/** Starts a call that may belong to a group or batch. */
export type Dispatch = (args: RequestArguments, options?: CallOptions, together?: Together) => Promise<unknown>

type Callback = (value: unknown) => void

const noParams: readonly unknown[] = []
const noOptions: CallOptions = {}

/** Functions that run at the start and the end of each call. */
export interface Frame {
  /** Holds the calls in flight, so that closing can end them. */
  readonly live: Holder<Call>
  /** Called when a call starts. If it returns a function, the call is sent inside that function. */
  readonly start?: ((call: Call) => Within | undefined) | undefined
  /** Called with the outcome of a call. Returns the value that the caller gets. */
  readonly end?: ((call: Call, ok: boolean, value: unknown) => unknown) | undefined
}

/** Calls a function in a context of its own, for example with a tracing span set. */
export type Within = (run: () => void) => void

/**
 * Creates the function that starts calls. Each call gets one Promise, and one record that the layers share.
 *
 * @param send - The outermost layer.
 * @param frame - What to do at the start and the end of each call. This costs less than a layer, which needs a closure per call to see its end.
 * @default nothing
 */
export function createDispatch(send: Send, { live, start, end }: Partial<Frame> = {}): Dispatch {
  /** A function of its own, so that the closure that completes a call keeps nothing else alive: many calls may wait at once. */
  const sendCall = (call: Call, resolve: Callback, reject: Callback, unlisten: (() => void) | undefined): void => {
    live?.enter(call)
    const within = start?.(call)
    let over = false
    const complete: Complete = (ok, value) => {
      over = true
      unlisten?.()
      live?.leave(call)
      call.cancel = undefined
      const given = end ? end(call, ok, value) : value
      if (ok) resolve(given)
      // The reason of an abort belongs to the caller and is passed on unchanged.
      else if (given instanceof KeyrailError && given !== call.options.signal?.reason) resolve(rejectFromCaller(given))
      else reject(given)
    }
    try {
      if (within) run(within, call, complete)
      else send(call, complete)
    } catch (error) {
      // If a user's layer throws, only its own call fails.
      if (over) throw error
      call.ended = true
      complete(false, error)
    }
  }

  const run = (within: Within, call: Call, complete: Complete): void => within(() => send(call, complete))

  const listen = (call: Call, signal: AbortSignal): (() => void) => {
    const onAbort = (): void => {
      call.ended = true
      call.cancel?.(signal.reason)
    }
    signal.addEventListener('abort', onAbort)
    return () => signal.removeEventListener('abort', onAbort)
  }

  return (args, options, together) =>
    new Promise((resolve, reject) => {
      // web3.js takes a transport for one of its older providers, which report by a callback.
      check(
        typeof options !== 'function',
        'request takes no callback: pass createProvider(transport) to libraries that use one',
      )
      const { method, params = noParams } = Object(args) as RequestArguments
      const text = writeParams(params)
      check(
        method && typeof method === 'string',
        `request takes { method, params }, such as { method: 'eth_blockNumber' }`,
      )
      check(
        text,
        `params of ${method} must be an array or an object of JSON values: write numbers as hex, such as '0x10'`,
      )
      const call = createCall(method, text, options ?? noOptions, together)
      call.startedAt = now()
      // Most calls have no options.
      if (!options) return sendCall(call, resolve, reject, undefined)
      checkCallOptions(options)
      const { timeoutMs, signal } = options
      // For the calls of a user's layer. They are not in `live`, which sets the deadline of other calls.
      if (timeoutMs) call.deadlineAt = call.startedAt + timeoutMs
      if (signal?.aborted) return reject(signal.reason)
      return sendCall(call, resolve, reject, signal && listen(call, signal))
    })
}
