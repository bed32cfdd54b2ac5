import type { KeyrailError } from './keyrailError.ts'

const resolved = /* @__PURE__ */ Promise.resolve()
const doNothing = (): void => {}

/**
 * Rejects with an error whose stack names the line that made the call.
 *
 * An error is created when a response arrives, and by then the caller is no longer on the stack. V8 follows the promises from a microtask to the
 * functions that await them, so the stack is captured again in one that the call's promise waits for. A call that succeeds pays nothing for
 * this, and no stack is kept for calls in flight. The stack stays as it is in engines that do not capture stacks. If nothing awaits the promise
 * yet, it names no caller.
 *
 * @param error - The failure. Its stack is replaced.
 * @returns A promise to resolve the call's promise with. It rejects with the same error.
 * @see https://v8.dev/docs/stack-trace-api#async-stack-traces
 */
export function rejectFromCaller(error: KeyrailError): Promise<never> {
  // The first microtask gives the call's promise time to wait for this one.
  return resolved.then(doNothing).then(() => {
    // Not in older engines.
    if (typeof Error.captureStackTrace === 'function') Error.captureStackTrace(error)
    throw error
  })
}
