import { isKeyrailError } from '@keyrail/core'

/** Waits for a call, and returns its result or its failure kind. */
export const getOutcome = (call: Promise<unknown>): Promise<unknown> =>
  call.catch((error: unknown) => (isKeyrailError(error) ? error.kind : error))
