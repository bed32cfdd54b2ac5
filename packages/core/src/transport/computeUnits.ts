/**
 * What a method costs where an endpoint counts compute units rather than requests.
 *
 * Providers publish different tables, but agree on the order: what is answered from memory is nearly free, one lookup of state is the
 * yardstick, running a contract costs a little more, a scan several times as much, and re-executing blocks most. This table has one number
 * for each of these, on the scale that most of them use (a plain read is 20). Take the numbers that matter to you from your provider's list
 * and give them as `computeUnits`.
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
  // Known without looking: some providers charge nothing for these, but what is sent is a request all the same.
  [1, /^(eth_(chainId|accounts|protocolVersion|syncing)|net_|web3_)/],
  // One number that the node keeps at hand.
  [
    10,
    /^eth_(blockNumber|gasPrice|maxPriorityFeePerGas|blobBaseFee|baseFee|feeHistory|newBlockFilter|uninstallFilter)$/,
  ],
  // Runs a contract.
  [26, /^eth_(call|estimateGas|createAccessList)$/],
  [40, /^eth_(sendRawTransaction|simulateV1)/],
  // Looks through many blocks, or gives all of one.
  [75, /^eth_get(Logs|Filter|Proof|BlockReceipts)/],
  // Executes a transaction again, or a block of them.
  [300, /^(debug|trace)_/],
]
