import type { Call, CallOptions } from './call.ts'

/** What ties calls together. */
export type Together = Partial<Pick<Call, 'group' | 'batch'>>

const alone: Together = {}

/**
 * Makes the record of a call, of which nothing is known yet but what it asks. Every record is made here, so that all have one shape.
 *
 * @param method - A JSON-RPC method.
 * @param params - The params as JSON text.
 * @param options - What the caller asked for.
 * @param together - What it belongs to: another call, for example, on whose behalf it is made. @default nothing
 */
export function createCall(
  method: string,
  params: string,
  options: CallOptions,
  { group, batch }: Together = alone,
): Call {
  return {
    method,
    params,
    options,
    group,
    batch,
    note: undefined,
    waitingSince: undefined,
    waitedMs: 0,
    creditedMs: 0,
    below: undefined,
    endpoint: undefined,
    tried: undefined,
    startedAt: 0,
    share: 1,
    deadlineAt: Infinity,
    ended: false,
    cancel: undefined,
    before: undefined,
    after: undefined,
  }
}
