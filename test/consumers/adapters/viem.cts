import viemAdapter = require('@keyrail/viem')
import viem = require('viem')

/** Reads the latest block: its number by viem's own read, its hash by a raw call. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | null | undefined }> {
  const transport: viemAdapter.KeyrailTransport = viemAdapter.keyrail({ url })
  const client = viem.createPublicClient({ transport })
  const number: bigint = await client.getBlockNumber()
  // @ts-expect-error the address is nowhere to be had
  void client.transport.url
  const block = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
  return { number: `0x${number.toString(16)}`, hash: block?.hash }
}
