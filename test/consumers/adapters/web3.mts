import { KeyrailProvider } from '@keyrail/web3'
import { Web3 } from 'web3'

/** Reads the latest block: its number by web3's own read, its hash by a raw call. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | undefined }> {
  const provider = new KeyrailProvider({ url })
  const redactedUrl: string = provider.redactedUrl
  const number: bigint = await new Web3(provider).eth.getBlockNumber()
  // @ts-expect-error an address is one of its forms, not two
  void (() => new KeyrailProvider({ url, apiKey: 'any' }))
  const answer = await provider.request({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_getBlockByNumber',
    params: ['latest', false],
  })
  provider.disconnect()
  void redactedUrl
  const { hash } = 'result' in answer ? (answer.result as { hash: string }) : { hash: undefined }
  return { number: `0x${number.toString(16)}`, hash }
}
