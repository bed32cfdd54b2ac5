import type { Call, CallOptions } from './call.ts'

/**
 * Makes the record of a call, of which nothing is known yet but what it asks. Every record is made here, so that all have one shape.
 *
 * @param method - A JSON-RPC method.
 * @param params - The params as JSON text.
 * @param options - What the caller asked for.
 */
export function createCall(method: string, params: string, options: CallOptions): Call {
  return {
    method,
    params,
    options,
    group: undefined,
    batch: undefined,
    note: undefined,
    waitingSince: undefined,
    below: undefined,
    deadlineAt: Infinity,
    ended: false,
    cancel: undefined,
  }
}
