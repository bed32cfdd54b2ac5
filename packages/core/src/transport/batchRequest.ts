import { check } from '../failure/invalid.ts'
import type { CallOptions, RequestArguments } from './call.ts'

/** How one call of an explicit batch ended. */
export type Settled<Value = unknown> =
  | { readonly status: 'fulfilled'; readonly value: Value }
  | { readonly status: 'rejected'; readonly reason: unknown }

/** Makes several calls at once and tells of each how it ended, in the order of the calls. */
export type BatchRequest = (calls: readonly RequestArguments[], options?: CallOptions) => Promise<Settled[]>

/**
 * Makes `transport.batch` of a transport's `request`: its calls travel together, whether joining is on or not.
 * Each still has its own deadline, retries and failure, so one that fails costs the others nothing. The promise does not reject for a call.
 *
 * @param request - Makes one call; calls that are given the same object as `batch` travel together.
 * @throws {KeyrailError} kind `invalidRequest` where what is given is no array.
 * @example
 * const all = createBatchRequest((args) => createTransport({ url: 'http://127.0.0.1:8545' }).request(args))
 * const [block, gas] = await all([{ method: 'eth_blockNumber' }, { method: 'eth_gasPrice' }])
 */
export function createBatchRequest(
  request: (args: RequestArguments, options: CallOptions | undefined, batch: object) => Promise<unknown>,
): BatchRequest {
  return async (calls, options) => {
    check(Array.isArray(calls), 'batch takes an array of { method, params }')
    const batch = {}
    return Promise.allSettled(calls.map((args) => request(args, options, batch)))
  }
}
