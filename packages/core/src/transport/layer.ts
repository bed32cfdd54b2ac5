import type { Carry, Layer } from './call.ts'
import { createDoor } from './door.ts'
import type { Request } from './door.ts'

/**
 * Makes a layer from a function that takes `request` and returns one: the shape in which users write their own.
 *
 * @param wrap - Called once. Pass the options it is given on, so that an abort reaches what lies below.
 * @example
 * const timed = layer((request) => async (args, options) => {
 *   const start = performance.now()
 *   try {
 *     return await request(args, options)
 *   } finally {
 *     console.log(args.method, performance.now() - start)
 *   }
 * })
 * const transport = compose(http({ url: 'http://127.0.0.1:8545' }), timed, deadline())
 */
export function layer(wrap: (request: Request) => Request): Layer {
  return (next: Carry) => {
    const request = wrap(createDoor(next))
    return (call, settle) => {
      const controller = new AbortController()
      let settled = false
      const end = (ok: boolean, value: unknown): void => {
        if (settled) return
        settled = true
        settle(ok, value)
      }
      call.cancel = (reason) => {
        end(false, reason)
        controller.abort(reason)
      }
      const params = JSON.parse(call.params) as unknown[]
      const left = Math.min(call.deadlineAt - performance.now(), 2 ** 31 - 1)
      Promise.resolve({ method: call.method, params })
        .then((args) => request(args, { signal: controller.signal, timeoutMs: left > 0 ? left : 1 }))
        .then(
          (value) => end(true, value),
          (error: unknown) => end(false, error),
        )
    }
  }
}
