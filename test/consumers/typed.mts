import { compose, deadline, http, isKeyrailError, retry } from '@keyrail/core'
import type { EndpointUrlOptions, KeyrailError } from '@keyrail/core'
import { clientOf, createClient } from '@keyrail/fetch'
import type { Client } from '@keyrail/fetch'

/** Reads the latest block by both doors. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | undefined }> {
  const client: Client = createClient({ url })
  const block = await client.eth_getBlockByNumber('latest', false)
  // The types are there: what comes back is a block or null, and nothing looser.
  const hashes: readonly string[] | undefined = block?.transactions
  // @ts-expect-error a block has no such field
  void block?.noSuchField
  client.close()

  const address: EndpointUrlOptions = { url }
  const small = clientOf(compose(http(address), retry(), deadline()))
  const number: string = await small.eth_blockNumber()
  const exact: string = await small.request({ method: 'eth_chainId' })
  small.close()
  void [hashes, exact]
  return { number, hash: block?.hash ?? undefined }
}

/** What a program does with a failure. */
export function describe(error: unknown): string {
  if (!isKeyrailError(error)) return 'not ours'
  const failure: KeyrailError = error
  return failure.kind
}
