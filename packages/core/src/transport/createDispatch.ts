import { now } from '../clock/now.ts'
import { check } from '../failure/check.ts'
import { KeyrailError } from '../failure/keyrailError.ts'
import { rejectFromCaller } from '../failure/rejectFromCaller.ts'
import type { Call, CallOptions, Send, RequestArguments, Settle } from './call.ts'
import { checkCallOptions } from './checkCallOptions.ts'
import { createCall } from './createCall.ts'
import type { Together } from './createCall.ts'
import type { Holder } from './queue.ts'
import { writeParams } from './writeParams.ts'

/** How a call is made from outside. */
export type RawRequest = (args: RequestArguments, options?: CallOptions) => Promise<unknown>

/** The same from inside, where calls can be tied together. */
export type Dispatch = (args: RequestArguments, options?: CallOptions, together?: Together) => Promise<unknown>

type Give = (value: unknown) => void

const noParams: readonly unknown[] = []
const noOptions: CallOptions = {}

/** What stands around the calls of a door. */
export interface Frame {
  /** Holds the calls under way, so that closing can end them. */
  readonly live: Holder<Call>
  /** Told when a call begins. What it gives back, if anything, runs what carries the call. */
  readonly begin?: ((call: Call) => Within | undefined) | undefined
  /** Told how a call ended; gives back what the caller gets. */
  readonly end?: ((call: Call, ok: boolean, value: unknown) => unknown) | undefined
}

/** Runs something in surroundings of its own. */
export type Within = (run: () => void) => void

/**
 * Makes the one Promise of a call, and the record that the layers share.
 *
 * @param carry - The outermost layer.
 * @param frame - What is done for each call at its begin and its end. It costs less there than in a layer, where each call needs a function
 * of its own to hear of its end. @default nothing
 */
export function createDispatch(send: Send, { live, begin, end }: Partial<Frame> = {}): Dispatch {
  /** Apart, so that what settles a call keeps alive no more than this: in a flood there are many that wait. */
  const start = (call: Call, give: Give, refuse: Give, unlisten: (() => void) | undefined): void => {
    live?.enter(call)
    const within = begin?.(call)
    let over = false
    const settle: Settle = (ok, value) => {
      over = true
      unlisten?.()
      live?.leave(call)
      call.cancel = undefined
      const given = end ? end(call, ok, value) : value
      if (ok) give(given)
      // The reason of an abort belongs to the caller and is passed on unchanged.
      else if (given instanceof KeyrailError && given !== call.options.signal?.reason) give(rejectFromCaller(given))
      else refuse(given)
    }
    try {
      if (within) run(within, call, settle)
      else send(call, settle)
    } catch (error) {
      // A layer of a user that throws costs its own call.
      if (over) throw error
      call.ended = true
      settle(false, error)
    }
  }

  const run = (within: Within, call: Call, settle: Settle): void => within(() => send(call, settle))

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
      // Most calls have none, and are spared what follows.
      if (!options) return start(call, resolve, reject, undefined)
      checkCallOptions(options)
      const { timeoutMs, signal } = options
      // Until a deadline is set: what stands above it, a layer of a user for example, waits no longer than this.
      if (timeoutMs) call.deadlineAt = call.startedAt + timeoutMs
      if (signal?.aborted) return reject(signal.reason)
      return start(call, resolve, reject, signal && listen(call, signal))
    })
}
