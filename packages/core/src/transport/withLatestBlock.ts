/**
 * Methods whose block is optional in the specification, but nodes demand it, and the position of the block among the params.
 *
 * Not here: methods that every node takes without a block, such as `eth_estimateGas`. Nodes choose `latest` or `pending` for them, and libraries
 * that leave the block out rely on that choice.
 */
const blockPositions: ReadonlyMap<string, number> = new Map([
  ['eth_call', 1],
  ['eth_getBalance', 1],
  ['eth_getCode', 1],
  ['eth_getTransactionCount', 1],
  ['eth_getStorageValues', 1],
  ['eth_getStorageAt', 2],
  ['eth_getProof', 2],
])

const isGiven = (param: unknown): boolean => param !== undefined && param !== null

/**
 * Names the latest block in the params of a call that leaves its block out.
 *
 * @param method - The method.
 * @param params - Its params by position.
 * @returns The same params if there is nothing to add.
 * @example
 * withLatestBlock('eth_getBalance', ['0xabc']) // ['0xabc', 'latest']
 * @see execution-apis, eth/state: the default of `Block` is `latest`
 */
export function withLatestBlock(method: string, params: readonly unknown[]): readonly unknown[] {
  const position = blockPositions.get(method)
  if (position === undefined || isGiven(params[position])) return params
  // If an earlier param is missing, too, the node reports it.
  for (let at = 0; at < position; at++) if (!isGiven(params[at])) return params
  const filled = [...params]
  filled[position] = 'latest'
  return filled
}
