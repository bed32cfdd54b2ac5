import type { RequestArguments } from '@keyrail/core'

/** Methods that nodes take without a block, and then run on different ones: some on the latest, some on the pending one. */
const runners: ReadonlySet<string> = new Set(['eth_estimateGas', 'eth_createAccessList'])

/**
 * Names the latest block for a transaction that is run without a block, so that the result does not depend on the node.
 * For methods that nodes reject without a block, the transport does it.
 *
 * @param args - A request.
 * @returns The same request if there is nothing to add.
 */
export function onLatestBlock(args: RequestArguments): RequestArguments {
  // The transport rejects what is no request.
  const { method, params } = Object(args) as RequestArguments
  if (!runners.has(method) || !Array.isArray(params)) return args
  const [transaction, block, ...overrides] = params as readonly unknown[]
  if (!transaction || (block !== undefined && block !== null)) return args
  return { method, params: [transaction, 'latest', ...overrides] }
}
