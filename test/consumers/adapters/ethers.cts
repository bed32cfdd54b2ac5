import adapter = require('@keyrail/ethers')
import ethers = require('ethers')

/** Reads the latest block: the number with ethers' own method, the hash with a raw call. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | undefined }> {
  const provider: ethers.JsonRpcProvider = new adapter.KeyrailProvider({ url })
  // @ts-expect-error an endpoint has one form, not two
  void (() => new adapter.KeyrailProvider({ url, apiKey: 'any' }))
  const number: number = await provider.getBlockNumber()
  const block = (await provider.send('eth_getBlockByNumber', ['latest', false])) as { hash: string }
  provider.destroy()
  return { number: ethers.toQuantity(number), hash: block.hash }
}
