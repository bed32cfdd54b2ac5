import core = require('@keyrail/core')
import fetch = require('@keyrail/fetch')

/** Reads the latest block by both doors. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | undefined }> {
  const client: fetch.Client = fetch.createClient({ url })
  const block = await client.eth_getBlockByNumber('latest', false)
  // @ts-expect-error a block has no such field
  void block?.noSuchField
  client.close()

  const address: core.AddressOptions = { url }
  const small = fetch.clientOf(core.compose(core.http(address), core.retry(), core.deadline()))
  const number: string = await small.eth_blockNumber()
  small.close()
  return { number, hash: block?.hash ?? undefined }
}
