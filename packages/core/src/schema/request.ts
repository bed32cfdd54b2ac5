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
 * The params of a method, as a tuple; for a method with overloads, the union of their params.
 *
 * @example
 * const params: Params<EthereumRpc, 'eth_getBlockByNumber'> = ['latest', false]
 */
// TypeScript matches overloads from the last one up, and repeats the first for missing ones: twelve cover any smaller number.
// The check type is `Rpc[M]` and not a type parameter, so that nothing is computed for each method while M is unknown;
// and an unknown method, for which M is the union of all names, takes the first branch.
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

/** The return type of a method for these params: that of the first overload that accepts them, as in a call. */
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
 * The result of a method: of all its overloads, or for these params.
 *
 * @example
 * type Block = Result<EthereumRpc, 'eth_getBlockByNumber', ['latest', false]>
 */
export type Result<Rpc, M extends keyof Rpc, P extends Params<Rpc, M> = Params<Rpc, M>> = Awaited<Returned<Rpc, M, P>>

/** The params of a call that omits them: none, if the method allows that. */
type OmittedParams<Rpc, M extends keyof Rpc> =
  readonly [] extends Params<Rpc, M> ? Params<Rpc, M> & readonly [] : Params<Rpc, M>

/** The `params` of a request. They are optional if the method can be called without any. */
type ParamsField<Rpc, M extends keyof Rpc, P> =
  readonly [] extends Params<Rpc, M> ? { readonly params?: P | undefined } : { readonly params: P }

/**
 * A request by name, as in EIP-1193. The result is as exact as that of the method, including its overloads.
 * An unknown method and wrong params are type errors.
 *
 * In a custom schema, a method may have up to twelve overloads. With several, declare arrays inside the params as `readonly`: otherwise the
 * result is the union of all overloads.
 *
 * @example
 * declare const request: RequestFn
 * const block = await request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
 * const hashes: `0x${string}`[] | undefined = block?.transactions
 */
export type RequestFn<Rpc = EthereumRpc> = <
  M extends keyof Rpc & string,
  const P extends Params<Rpc, M> = OmittedParams<Rpc, M>,
>(
  args: { readonly method: M } & ParamsField<Rpc, M, P>,
  options?: CallOptions,
) => Promise<Awaited<Returned<Rpc, M, P>>>
