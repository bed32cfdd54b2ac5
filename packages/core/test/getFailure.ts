import { isKeyrailError } from '@keyrail/core'
import type { KeyrailError } from '@keyrail/core'

/** Waits until a call fails, and returns its error. Throws if the call succeeds. */
export const getError = <E = unknown>(call: Promise<unknown>): Promise<E> =>
  call.then(
    (value) => {
      throw new Error(`The call succeeded: ${String(value)}`)
    },
    (error: E) => error,
  )

/** Waits until a call fails with a `KeyrailError`, and returns it. Throws if the call succeeds or fails with another error. */
export const getFailure = async (call: Promise<unknown>): Promise<KeyrailError> => {
  const error = await getError(call)
  if (isKeyrailError(error)) return error
  throw error
}
