import type { CallOptions, EthereumRpc } from '@keyrail/core'

/**
 * A client with the methods that a read calls, and `with()` if you pass call options. A client of `createClient` has
 * both.
 */
export type ReadClient<Method extends keyof EthereumRpc> = Pick<EthereumRpc, Method> & {
  readonly with?: ((options: CallOptions) => Pick<EthereumRpc, Method>) | undefined
}
