import { now } from '../clock/now.ts'
import type { Call, Send, Layer, RequestArguments } from './call.ts'
import { createDispatch } from './createDispatch.ts'
import type { RawRequest } from './createDispatch.ts'
import { onCancel } from './onCancel.ts'
import { setBelow } from './waits.ts'

/** A call that is carried, and how many calls are under way on its behalf. */
interface Carried {
  readonly call: Call
  open: number
}

/**
 * Makes a layer from a function that takes `request` and returns one: the shape in which users write their own.
 *
 * @param wrap - Called once. Pass the options it is given on, or their `signal` at least: by the signal an abort reaches what lies below, and
 * what is called with it is known to be done for this call, so that hooks, statistics and the deadline see it, and it stays in its group or batch;
 * it is ended when that call is over.
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
    // By the signal, because it survives a copy of the options.
    const carried = new WeakMap<AbortSignal, Carried>()
    const dispatch = createDispatch((inner, settle) => {
      const outer = inner.options.signal && carried.get(inner.options.signal)
      if (!outer) return next(inner, settle)
      const { group, batch, note } = outer.call
      Object.assign(inner, {
        group,
        batch,
        note: note && ((event) => outer.call.note?.(event)),
      } satisfies Partial<Call>)
      setBelow(outer.call, inner)
      outer.open++
      next(inner, (ok, value) => {
        outer.open--
        if (outer.call.below === inner) setBelow(outer.call, undefined)
        settle(ok, value)
      })
    })
    const request = wrap(dispatch)
    return (call, settle) => {
      const controller = new AbortController()
      const { signal } = controller
      const outer: Carried = { call, open: 0 }
      carried.set(signal, outer)
      let settled = false
      const end = (ok: boolean, value: unknown): void => {
        if (settled) return
        settled = true
        settle(ok, value)
      }
      const finish = (ok: boolean, value: unknown): void => {
        end(ok, value)
        // What lost a race, for example: past its call, neither a deadline nor a close would end it.
        if (outer.open > 0) controller.abort()
      }
      onCancel(call, (reason) => {
        end(false, reason)
        controller.abort(reason)
      })
      const params = JSON.parse(call.params) as RequestArguments['params']
      const timeoutMs = Math.max(1, Math.min(call.deadlineAt - now(), 2 ** 31 - 1))
      Promise.resolve({ method: call.method, params })
        .then((args) => request(args, { ...call.options, signal, timeoutMs }))
        .then(
          (value) => finish(true, value),
          (error: unknown) => finish(false, error),
        )
    }
  }
}
