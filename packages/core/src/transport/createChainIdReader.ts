import { createFailure } from '../failure/createFailure.ts'
import type { RawRequest } from './call/createDispatch.ts'
import { blockNumber } from './route/heads.ts'

/**
 * Creates a function that returns the chain id and requests it at most once.
 *
 * @param request - Sends the request.
 * @param redactedUrl - The URL for error messages, without its key.
 * @param given - The chain id, if it was configured. Then it is not requested.
 * @throws {KeyrailError} The failure of the request; kind `badResponse` if the result is not a chain id. The next call requests it again.
 * @see EIP-695 (eth_chainId)
 */
export function createChainIdReader(
  request: RawRequest,
  redactedUrl: string,
  given: number | undefined,
): () => Promise<number> {
  let known: Promise<number> | undefined
  const requestChainId = async (): Promise<number> => {
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
  return () => (known ??= given ? Promise.resolve(given) : requestChainId())
}
