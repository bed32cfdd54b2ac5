import type { Call } from './call.ts'

/**
 * Sets the function that cancels a call.
 *
 * V8 allocates function literals that are assigned to a property in the old generation, because they look like methods. There each would keep its
 * call, request and response alive until the next full collection. Passing the function as a parameter avoids that.
 *
 * @param call - The call.
 * @param cancel - Stops the work in flight and completes the call with the reason.
 */
export function onCancel(call: Call, cancel: (reason: unknown) => void): void {
  call.cancel = cancel
}
