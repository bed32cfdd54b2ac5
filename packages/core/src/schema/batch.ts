import type { CallOptions } from './callOptions.ts'
import type { EthereumRpc } from './ethereumRpc.ts'
import type { MethodName, Params, Result } from './request.ts'

/** The outcome of one call of a batch. */
export type Settled<Value = unknown> =
  | { readonly status: 'fulfilled'; readonly value: Value }
  | { readonly status: 'rejected'; readonly reason: unknown }

/** One call of a batch, of any method. */
export interface BatchCall<Rpc = EthereumRpc> {
  readonly method: MethodName<Rpc>
  readonly params?: readonly unknown[] | undefined
}

/** The calls as their methods take them: a wrong param is an error at its own call. */
type CheckedCalls<Rpc, Calls extends readonly BatchCall<Rpc>[]> = {
  readonly [I in keyof Calls]: { readonly method: Calls[I]['method'] } & (readonly [] extends Params<
    Rpc,
    Calls[I]['method']
  >
    ? { readonly params?: Params<Rpc, Calls[I]['method']> | undefined }
    : { readonly params: Params<Rpc, Calls[I]['method']> })
}

/** The result of one call, by the params that were given or omitted. */
type CallResult<Rpc, M extends keyof Rpc, Call> = Call extends { readonly params: infer P extends Params<Rpc, M> }
  ? Result<Rpc, M, P>
  : Result<Rpc, M, readonly [] extends Params<Rpc, M> ? Params<Rpc, M> & readonly [] : Params<Rpc, M>>

/**
 * The outcome of each call of a batch, in order.
 *
 * @example
 * type Results = BatchResults<EthereumRpc, [{ method: 'eth_chainId' }, { method: 'eth_gasPrice' }]>
 * declare const results: Results
 * if (results[0].status === 'fulfilled') console.log(BigInt(results[0].value))
 */
export type BatchResults<Rpc, Calls extends readonly BatchCall<Rpc>[]> = {
  -readonly [I in keyof Calls]: Settled<CallResult<Rpc, Calls[I]['method'], Calls[I]>>
}

/**
 * A batch by names: each result is as exact as that of its method, over its overloads too. An unknown method and wrong params are type errors.
 *
 * @example
 * declare const batch: BatchFn
 * const [block, gas] = await batch([{ method: 'eth_getBlockByNumber', params: ['latest', false] }, { method: 'eth_gasPrice' }])
 * if (block.status === 'fulfilled') console.log(block.value?.transactions[0])
 */
export type BatchFn<Rpc = EthereumRpc> = <const Calls extends readonly BatchCall<Rpc>[]>(
  calls: Calls & CheckedCalls<Rpc, Calls>,
  options?: CallOptions,
) => Promise<BatchResults<Rpc, Calls>>
