import adapter = require('@keyrail/ethers')
import ethers = require('ethers')

/** Reads the latest block: its number by ethers' own read, its hash by a raw call. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | undefined }> {
  const provider: ethers.JsonRpcProvider = new adapter.KeyrailProvider({ url })
  // @ts-expect-error an address is one of its forms, not two
  void (() => new adapter.KeyrailProvider({ url, apiKey: 'any' }))
  const number: number = await provider.getBlockNumber()
  const block = (await provider.send('eth_getBlockByNumber', ['latest', false])) as { hash: string }
  provider.destroy()
  return { number: ethers.toQuantity(number), hash: block.hash }
}
