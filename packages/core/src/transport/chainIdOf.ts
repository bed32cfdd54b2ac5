import { createFailure } from '../failure/createFailure.ts'
import type { RawRequest } from './createDispatch.ts'
import { blockNumber } from './heads.ts'

/**
 * Makes a function that tells the chain id, and asks for it once at most.
 *
 * @param request - Asks.
 * @param redactedUrl - What may be printed of the address.
 * @param given - The chain id where it is known: then nothing is asked.
 * @throws {KeyrailError} what asking failed with; kind `badResponse` where the answer is no chain id. The next call asks anew.
 * @see EIP-695 (eth_chainId)
 */
export function chainIdOf(request: RawRequest, redactedUrl: string, given: number | undefined): () => Promise<number> {
  let known: Promise<number> | undefined
  const ask = async (): Promise<number> => {
    try {
      const id = blockNumber(await request({ method: 'eth_chainId' }))
      if (id) return id
      throw createFailure(
        { kind: 'badResponse', text: 'the result of eth_chainId is not a chain id' },
        { method: 'eth_chainId', redactedUrl },
      )
    } catch (error) {
      known = undefined
      throw error
    }
  }
  return () => (known ??= given ? Promise.resolve(given) : ask())
}
