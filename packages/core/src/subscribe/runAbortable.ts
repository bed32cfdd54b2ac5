import { invalidRequest } from '../failure/check.ts'

/** The abort reason after `return()`. It never leaves this file. */
const returned = Symbol('returned')

/**
 * Wraps an async generator so that it ends at once: `break` and `return()` also abort what it awaits, and an aborted signal makes the
 * pending and the next `next()` reject with the signal's own reason. (A plain generator handles `return()` only after its current `await`
 * completes.)
 *
 * @param signal - The caller's signal. Anything else is rejected with kind `invalidRequest`.
 * @param run - Creates the generator when the first value is requested. Everything that it awaits must respect the signal it gets.
 */
export function runAbortable<T>(
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  if (signal !== undefined && !('aborted' in Object(signal))) throw invalidRequest('signal must be an AbortSignal')
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
