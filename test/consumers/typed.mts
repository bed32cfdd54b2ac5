import { createTransport, isKeyrailError } from '@keyrail/core'
import type { EndpointUrlOptions, KeyrailError } from '@keyrail/core'
import { createClient } from '@keyrail/fetch'
import type { Client } from '@keyrail/fetch'

/** Reads the latest block with a client that creates its transport, and with one on a given transport. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | undefined }> {
  const client: Client = createClient({ url })
  const block = await client.eth_getBlockByNumber('latest', false)
  // The result has an exact type: a block or null.
  const hashes: readonly string[] | undefined = block?.transactions
  // @ts-expect-error a block has no such field
  void block?.noSuchField
  client.close()

  const address: EndpointUrlOptions = { url }
  const transport = createTransport(address)
  const shared = createClient(transport)
  const number: string = await shared.eth_blockNumber()
  const exact: string = await shared.request({ method: 'eth_chainId' })
  transport.close()
  void [hashes, exact]
  return { number, hash: block?.hash ?? undefined }
}

/** Handles a failure as a program would. */
export function describe(error: unknown): string {
  if (!isKeyrailError(error)) return 'not ours'
  const failure: KeyrailError = error
  return failure.kind
}
