import { keyrail } from '@keyrail/viem'
import type { KeyrailTransport } from '@keyrail/viem'
import { createPublicClient } from 'viem'

/** Reads the latest block: its number by viem's own read, its hash by a raw call. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | null | undefined }> {
  const transport: KeyrailTransport = keyrail({ url })
  const client = createPublicClient({ transport })
  const number: bigint = await client.getBlockNumber()
  const redactedUrl: string = client.transport.redactedUrl
  // @ts-expect-error the address is nowhere to be had
  void client.transport.url
  const block = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
  void redactedUrl
  return { number: `0x${number.toString(16)}`, hash: block?.hash }
}
