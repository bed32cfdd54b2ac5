import viemAdapter = require('@keyrail/viem')
import viem = require('viem')

/** Reads the latest block: the number with viem's own method, the hash with a raw call. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | null | undefined }> {
  const transport: viemAdapter.KeyrailTransport = viemAdapter.keyrail({ url })
  const client = viem.createPublicClient({ transport })
  const number: bigint = await client.getBlockNumber()
  // @ts-expect-error the full URL is not available
  void client.transport.url
  const block = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
  return { number: `0x${number.toString(16)}`, hash: block?.hash }
}
