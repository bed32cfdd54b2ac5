import type { Call, Send, Layer, RequestArguments } from './call/call.ts'
import { follow, timeLeft } from './call/callProgress.ts'
import { createDispatch } from './call/createDispatch.ts'
import type { RawRequest } from './call/createDispatch.ts'
import { onCancel } from './call/onCancel.ts'

/** A call that the user's function handles, and how many of its own calls are in flight. */
interface OuterCall {
  readonly call: Call
  open: number
}

/**
 * Creates a layer from a function that takes `request` and returns one. Use it to write your own layers.
 *
 * @param wrap - Called once. Pass the options of a call on to `request`, or at least their `signal`. Through the signal, an abort reaches the layers
 * below, and calls with it count as part of the outer call: hooks, statistics and the deadline see them, they stay in its group or batch, and they
 * are cancelled when the outer call completes.
 * @example
 * const timed = layer((request) => async (args, options) => {
 *   const startedAt = performance.now()
 *   try {
 *     return await request(args, options)
 *   } finally {
 *     console.log(args.method, performance.now() - startedAt)
 *   }
 * })
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', layers: [timed] })
 */
export function layer(wrap: (request: RawRequest) => RawRequest): Layer {
  return (next: Send) => {
    // Keyed by the signal, which a copy of the options still has.
    const outerCalls = new WeakMap<AbortSignal, OuterCall>()
    const dispatch = createDispatch((inner, complete) => {
      const outer = inner.options.signal && outerCalls.get(inner.options.signal)
      if (!outer) return next(inner, complete)
      const { group, batch, emit } = outer.call
      Object.assign(inner, {
        group,
        batch,
        emit: emit && ((event) => outer.call.emit?.(event)),
      } satisfies Partial<Call>)
      follow(outer.call, inner)
      outer.open++
      next(inner, (ok, value) => {
        outer.open--
        complete(ok, value)
      })
    })
    const request = wrap(dispatch)
    return (call, complete) => {
      const controller = new AbortController()
      const { signal } = controller
      const outer: OuterCall = { call, open: 0 }
      outerCalls.set(signal, outer)
      let completed = false
      const end = (ok: boolean, value: unknown): void => {
        if (completed) return
        completed = true
        complete(ok, value)
      }
      const finish = (ok: boolean, value: unknown): void => {
        end(ok, value)
        // Cancels calls that lost a race, for example. After the outer call, no deadline and no close would end them.
        if (outer.open > 0) controller.abort()
      }
      onCancel(call, (reason) => {
        end(false, reason)
        controller.abort(reason)
      })
      const params = JSON.parse(call.params) as RequestArguments['params']
      const timeoutMs = Math.max(1, Math.min(timeLeft(call), 2 ** 31 - 1))
      Promise.resolve({ method: call.method, params })
        .then((args) => request(args, { ...call.options, signal, timeoutMs }))
        .then(
          (value) => finish(true, value),
          (error: unknown) => finish(false, error),
        )
    }
  }
}
