import { KeyrailProvider } from '@keyrail/ethers'
import type { KeyrailProviderConfig } from '@keyrail/ethers'
import { toQuantity } from 'ethers'
import type { JsonRpcProvider } from 'ethers'

/** Reads the latest block: the number with ethers' own method, the hash with a raw call. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | undefined }> {
  const config: KeyrailProviderConfig = { pollingInterval: 1_000 }
  // The provider extends the class of the installed ethers.
  const provider: JsonRpcProvider = new KeyrailProvider({ url }, config)
  // @ts-expect-error an endpoint has one form, not two
  void (() => new KeyrailProvider({ url, apiKey: 'any' }))
  const number: number = await provider.getBlockNumber()
  const block = (await provider.send('eth_getBlockByNumber', ['latest', false])) as { hash: string }
  provider.destroy()
  return { number: toQuantity(number), hash: block.hash }
}
