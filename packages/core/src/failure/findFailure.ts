import { isKeyrailError } from './keyrailError.ts'
import type { KeyrailError } from './keyrailError.ts'

/**
 * Finds the Keyrail failure in an error of viem, wagmi, ethers or web3.js: the error itself, its `failure`, or that of a cause.
 *
 * @param error - Anything that was thrown.
 * @returns Undefined if the error has nothing to do with a call, or if the library has replaced it: a revert of an ethers `Contract` has no failure.
 * @example
 * client.eth_blockNumber().catch((error) => console.error(findFailure(error)?.kind))
 */
export function findFailure(error: unknown): KeyrailError | undefined {
  const seen = new Set<unknown>()
  // Causes may form a circle.
  for (let one = error; Object(one) === one && !seen.has(one); one = (one as Error).cause) {
    seen.add(one)
    if (isKeyrailError(one)) return one
    const { failure } = one as { readonly failure?: unknown }
    if (isKeyrailError(failure)) return failure
  }
  return undefined
}
