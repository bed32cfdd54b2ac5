import { keyrail } from '@keyrail/viem'
import type { KeyrailTransport } from '@keyrail/viem'
import { createPublicClient } from 'viem'

/** Reads the latest block: the number with viem's own method, the hash with a raw call. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | null | undefined }> {
  const transport: KeyrailTransport = keyrail({ url })
  const client = createPublicClient({ transport })
  const number: bigint = await client.getBlockNumber()
  const redactedUrl: string = client.transport.redactedUrl
  // @ts-expect-error the full URL is not available
  void client.transport.url
  const block = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
  void redactedUrl
  return { number: `0x${number.toString(16)}`, hash: block?.hash }
}
