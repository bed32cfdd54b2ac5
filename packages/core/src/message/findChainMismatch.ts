import type { FailureFacts } from '../failure/failureFacts.ts'

/**
 * Checks that a response comes from the expected chain.
 *
 * @param chainId - The expected chain; undefined if any chain will do.
 * @param received - The chain of the response: its `x-chain-id` header, or the result of `eth_chainId`.
 * @returns The facts of a failure of kind `wrongNetwork`, or undefined.
 * @example
 * findChainMismatch(1, '0x5') // { kind: 'wrongNetwork', text: 'the node is on chain 5, but the chainId option is 1' }
 */
export function findChainMismatch(chainId: number | undefined, received: unknown): FailureFacts | undefined {
  const actual = chainId && (typeof received === 'string' || typeof received === 'number') && Number(received)
  if (!actual || actual === chainId) return undefined
  return { kind: 'wrongNetwork', text: `the node is on chain ${actual}, but the chainId option is ${chainId}` }
}
