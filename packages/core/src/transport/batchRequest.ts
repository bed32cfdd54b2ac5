import { check } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import type { Settled } from '../schema/batch.ts'
import type { CallOptions, RequestArguments } from './call/call.ts'
import type { Dispatch } from './call/createDispatch.ts'

/** Sends several calls together and reports the outcome of each, in the order of the calls. */
export type BatchRequest = (calls: readonly RequestArguments[], options?: CallOptions) => Promise<Settled[]>

/**
 * Creates `transport.batch`. Its calls are sent together even if `join` is off. Each has its own deadline, retries and failure, so one that fails
 * does not affect the others, and the promise does not reject because of a call.
 *
 * @param dispatch - Starts one call. Calls with the same object as `batch` are sent together.
 * @throws {KeyrailError} kind `invalidRequest` if `calls` is not an array.
 */
export function createBatchRequest(dispatch: Dispatch): BatchRequest {
  return async (calls, options) => {
    check(Array.isArray(calls), `batch takes an array of { method, params }, not ${describeType(calls)}`)
    const batch = {}
    // Unlike `map`, this includes the empty slots of a sparse array, which are then rejected.
    return Promise.allSettled(Array.from(calls, (args) => dispatch(args, options, { batch })))
  }
}
