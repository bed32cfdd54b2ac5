import core = require('@keyrail/core')
import fetch = require('@keyrail/fetch')

/** Reads the latest block with a client that creates its transport, and with one on a given transport. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | undefined }> {
  const client: fetch.Client = fetch.createClient({ url })
  const block = await client.eth_getBlockByNumber('latest', false)
  // @ts-expect-error a block has no such field
  void block?.noSuchField
  client.close()

  const address: core.EndpointUrlOptions = { url }
  const transport = core.createTransport(address)
  const shared = fetch.createClient(transport)
  const number: string = await shared.eth_blockNumber()
  transport.close()
  return { number, hash: block?.hash ?? undefined }
}
