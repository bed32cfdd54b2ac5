import { invalidOption } from '../encode/invalidOption.ts'

/** How a run is ended by `return()`; never seen from outside. */
const returned = Symbol('returned')

/**
 * Makes an async generator that ends at once: `break` and `return()` stop what it waits for, too, and a signal that is aborted makes
 * the pending and the next `next()` reject with the signal's own reason. (A bare generator is ended by `return()` only once what it
 * waits for has come.)
 *
 * @param signal - The caller's. What is none is refused with kind `invalidRequest`.
 * @param run - Makes the generator, once it is asked for its first value. Its own signal must reach everything that it waits for.
 */
export function runAbortable<T>(
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  if (signal !== undefined && !('aborted' in Object(signal))) throw invalidOption('signal must be an AbortSignal')
  const controller = new AbortController()
  const onAbort = (): void => controller.abort(signal?.reason)
  const inner = (async function* () {
    if (signal?.aborted) throw signal.reason
    signal?.addEventListener('abort', onAbort)
    try {
      for await (const value of run(controller.signal)) {
        yield value
        if (controller.signal.aborted) throw controller.signal.reason
      }
    } catch (error) {
      if (error !== returned) throw error
    } finally {
      signal?.removeEventListener('abort', onAbort)
      controller.abort(returned)
    }
  })()
  const end = (): Promise<IteratorResult<T, void>> => {
    controller.abort(returned)
    return inner.return()
  }
  const generator = {
    next: () => inner.next(),
    return: end,
    throw: async (error: unknown) => {
      await end()
      throw error
    },
    [Symbol.asyncIterator]: () => generator,
    [Symbol.asyncDispose]: async () => {
      await end()
    },
  } as AsyncGenerator<T, void, undefined>
  return generator
}
