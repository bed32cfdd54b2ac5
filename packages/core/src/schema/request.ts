import type { CallOptions } from './callOptions.ts'
import type { EthereumRpc } from './ethereumRpc.ts'

/**
 * The names of the methods of a schema.
 *
 * @example
 * const method: MethodName = 'eth_blockNumber'
 */
export type MethodName<Rpc = EthereumRpc> = keyof Rpc & string

/**
 * The params that a method takes, as a tuple; of a method with overloads, the union of theirs.
 *
 * @example
 * const params: Params<EthereumRpc, 'eth_getBlockByNumber'> = ['latest', false]
 */
// TypeScript matches overloads from the last one up, and lets the first stand in for those that are missing: twelve cover any fewer.
// The check type is `Rpc[M]` and not a type parameter, so that nothing is worked out for each method where M is not known yet;
// and for an unknown method, where M is every name there is, the first line ends it.
export type Params<Rpc, M extends keyof Rpc> = keyof EthereumRpc extends M
  ? readonly unknown[] | Readonly<Record<string, unknown>>
  : Rpc[M] extends {
        (...params: infer P1): infer _R1
        (...params: infer P2): infer _R2
        (...params: infer P3): infer _R3
        (...params: infer P4): infer _R4
        (...params: infer P5): infer _R5
        (...params: infer P6): infer _R6
        (...params: infer P7): infer _R7
        (...params: infer P8): infer _R8
        (...params: infer P9): infer _R9
        (...params: infer P10): infer _R10
        (...params: infer P11): infer _R11
        (...params: infer P12): infer _R12
      }
    ? Readonly<P1 | P2 | P3 | P4 | P5 | P6 | P7 | P8 | P9 | P10 | P11 | P12>
    : never

/** What a method returns for these params: the first overload that takes them decides, as in a call. */
type Returned<Rpc, M extends keyof Rpc, P> = keyof EthereumRpc extends M
  ? Promise<unknown>
  : Rpc[M] extends {
        (...params: infer P1): infer R1
        (...params: infer P2): infer R2
        (...params: infer P3): infer R3
        (...params: infer P4): infer R4
        (...params: infer P5): infer R5
        (...params: infer P6): infer R6
        (...params: infer P7): infer R7
        (...params: infer P8): infer R8
        (...params: infer P9): infer R9
        (...params: infer P10): infer R10
        (...params: infer P11): infer R11
        (...params: infer _P12): infer R12
      }
    ? P extends Readonly<P1>
      ? R1
      : P extends Readonly<P2>
        ? R2
        : P extends Readonly<P3>
          ? R3
          : P extends Readonly<P4>
            ? R4
            : P extends Readonly<P5>
              ? R5
              : P extends Readonly<P6>
                ? R6
                : P extends Readonly<P7>
                  ? R7
                  : P extends Readonly<P8>
                    ? R8
                    : P extends Readonly<P9>
                      ? R9
                      : P extends Readonly<P10>
                        ? R10
                        : P extends Readonly<P11>
                          ? R11
                          : R12
    : never

/**
 * What a method answers, of all its overloads or for some params.
 *
 * @example
 * type Block = Result<EthereumRpc, 'eth_getBlockByNumber', ['latest', false]>
 */
export type Result<Rpc, M extends keyof Rpc, P extends Params<Rpc, M> = Params<Rpc, M>> = Awaited<Returned<Rpc, M, P>>

/** The params of a call that leaves them out: none, where the method can be called so. */
type LeftOut<Rpc, M extends keyof Rpc> =
  readonly [] extends Params<Rpc, M> ? Params<Rpc, M> & readonly [] : Params<Rpc, M>

/** `params` as a method asks for them: they may be left out only where it can be called with none. */
type ParamsField<Rpc, M extends keyof Rpc, P> =
  readonly [] extends Params<Rpc, M> ? { readonly params?: P | undefined } : { readonly params: P }

/**
 * A request by name, as in EIP-1193: the result is as exact as that of the method itself, over its overloads too.
 * An unknown method and wrong params are type errors.
 *
 * Of a schema of your own: up to twelve overloads count, and where a method has several, declare arrays inside its params `readonly`,
 * or the result is the union of them all.
 *
 * @example
 * declare const request: RequestFn
 * const block = await request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
 * const hashes: `0x${string}`[] | undefined = block?.transactions
 */
export type RequestFn<Rpc = EthereumRpc> = <
  M extends keyof Rpc & string,
  const P extends Params<Rpc, M> = LeftOut<Rpc, M>,
>(
  args: { readonly method: M } & ParamsField<Rpc, M, P>,
  options?: CallOptions,
) => Promise<Awaited<Returned<Rpc, M, P>>>
