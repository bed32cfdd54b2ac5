import type { Call } from './call.ts'

/**
 * Says how a call is stopped from now on.
 *
 * Not by an assignment: V8 puts function literals that are assigned to a property into the old generation, taking them for methods. There each
 * would keep its call, request and answer until the next full collection.
 *
 * @param call - The call.
 * @param cancel - Stops what is under way and settles with the reason given.
 */
export function onCancel(call: Call, cancel: (reason: unknown) => void): void {
  call.cancel = cancel
}
