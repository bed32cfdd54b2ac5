import { KeyrailProvider } from '@keyrail/web3'
import { Web3 } from 'web3'

/** Reads the latest block: the number with web3's own method, the hash with a raw call. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | undefined }> {
  const provider = new KeyrailProvider({ url })
  const redactedUrl: string = provider.redactedUrl
  const number: bigint = await new Web3(provider).eth.getBlockNumber()
  // @ts-expect-error an endpoint has one form, not two
  void (() => new KeyrailProvider({ url, apiKey: 'any' }))
  const response = await provider.request({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_getBlockByNumber',
    params: ['latest', false],
  })
  provider.disconnect()
  void redactedUrl
  const { hash } = 'result' in response ? (response.result as { hash: string }) : { hash: undefined }
  return { number: `0x${number.toString(16)}`, hash }
}
