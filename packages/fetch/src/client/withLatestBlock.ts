import type { RequestArguments } from '@keyrail/core'
import { toMethodMap } from '@keyrail/core/internal'
import { optionalBlockMethods } from './methodSlice.ts'

/**
 * The position of the block of methods for which it is optional in the specification. Nodes reject most of them without a block. The others
 * (`eth_estimateGas`, `eth_createAccessList`) they run on the latest block or on the pending one, each as it likes.
 */
const blockPositions = /* @__PURE__ */ toMethodMap(optionalBlockMethods)

const isGiven = (param: unknown): boolean => param !== undefined && param !== null

/**
 * Names the latest block in a request that leaves its block out.
 *
 * @param args - The request.
 * @returns The same request if there is nothing to add.
 * @example
 * withLatestBlock({ method: 'eth_getBalance', params: [account] }) // params: [account, 'latest']
 * @see execution-apis, eth/state: the default of `Block` is `latest`
 */
export function withLatestBlock(args: RequestArguments): RequestArguments {
  // The transport rejects invalid requests.
  const { method, params } = Object(args) as RequestArguments
  const position = Number(blockPositions.get(method))
  if (!position || !Array.isArray(params) || isGiven(params[position])) return args
  // If an earlier param is missing, too, the node reports it.
  for (let at = 0; at < position; at++) if (!isGiven(params[at])) return args
  const filled = [...(params as readonly unknown[])]
  filled[position] = 'latest'
  return { ...args, params: filled }
}
