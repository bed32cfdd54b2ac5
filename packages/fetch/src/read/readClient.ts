import type { EthereumRpc } from '@keyrail/core'

/** Anything that has these methods of the schema: a client, or a part of one. */
export type ReadClient<Method extends keyof EthereumRpc> = Pick<EthereumRpc, Method>
