/**
 * Returns the cost of a method at an endpoint that counts compute units rather than requests.
 *
 * Providers publish different tables, but agree on the order: results from memory are nearly free, then come a lookup of state, running a contract,
 * a scan of several blocks, and re-executing blocks. This table has one number for each, on the scale that most providers use (a plain read is 20).
 * Pass the numbers of your provider as `computeUnits` where they matter.
 *
 * @param method - A JSON-RPC method.
 * @returns Compute units of one call.
 * @example
 * computeUnits('eth_getBalance') // 20
 */
export function computeUnits(method: string): number {
  return table.find(([, methods]) => methods.test(method))?.[0] ?? 20
}

const table: readonly (readonly [number, RegExp])[] = [
  // Constants. Some providers charge nothing for them, but each is still a request.
  [1, /^(eth_(chainId|accounts|protocolVersion|syncing)|net_|web3_)/],
  // One number that the node has in memory.
  [
    10,
    /^eth_(blockNumber|gasPrice|maxPriorityFeePerGas|blobBaseFee|baseFee|feeHistory|newBlockFilter|uninstallFilter)$/,
  ],
  // Runs a contract.
  [26, /^eth_(call|estimateGas|createAccessList)$/],
  [40, /^eth_(sendRawTransaction|simulateV1)/],
  // Scans many blocks, or returns all of one.
  [75, /^eth_get(Logs|Filter|Proof|BlockReceipts)/],
  // Executes a transaction again, or a block of them.
  [300, /^(debug|trace)_/],
]
