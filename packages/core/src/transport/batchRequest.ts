import { check } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import type { Settled } from '../schema/batch.ts'
import type { CallOptions, RequestArguments } from './call.ts'
import type { Dispatch } from './createDispatch.ts'

/** Makes several calls at once and tells of each how it ended, in the order of the calls. */
export type BatchRequest = (calls: readonly RequestArguments[], options?: CallOptions) => Promise<Settled[]>

/**
 * Makes `transport.batch` of a transport's door: its calls travel together, whether joining is on or not.
 * Each still has its own deadline, retries and failure, so one that fails costs the others nothing. The promise does not reject for a call.
 *
 * @param door - Makes one call; calls that are given the same object as `batch` travel together.
 * @throws {KeyrailError} kind `invalidRequest` where what is given is no array.
 */
export function createBatchRequest(dispatch: Dispatch): BatchRequest {
  return async (calls, options) => {
    check(Array.isArray(calls), `batch takes an array of { method, params }, not ${describeType(calls)}`)
    const batch = {}
    // Not by `map`, which passes over places that were left empty.
    return Promise.allSettled(Array.from(calls, (args) => dispatch(args, options, { batch })))
  }
}
