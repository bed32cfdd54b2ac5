import type { Facts } from '../failure/facts.ts'

/**
 * Tells when an answer comes from another chain than the address was said to lead to.
 *
 * @param chainId - The chain that is expected; undefined where none was named: then nothing is wrong.
 * @param said - What the answer says: its `x-chain-id` header, or its result where the call was eth_chainId.
 * @returns The facts of a failure of kind `wrongNetwork`, or undefined.
 * @example
 * wrongChain(1, '0x5') // { kind: 'wrongNetwork', text: 'the node is on chain 5, and chainId says 1' }
 */
export function wrongChain(chainId: number | undefined, said: unknown): Facts | undefined {
  const seen = chainId && (typeof said === 'string' || typeof said === 'number') && Number(said)
  if (!seen || seen === chainId) return undefined
  return { kind: 'wrongNetwork', text: `the node is on chain ${seen}, and chainId says ${chainId}` }
}
