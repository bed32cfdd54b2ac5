import adapter = require('@keyrail/web3')
import web3 = require('web3')

/** Reads the latest block: the number with web3's own method, the hash with a raw call. */
export async function readLatest(url: string): Promise<{ number: string; hash: string | undefined }> {
  const provider = new adapter.KeyrailProvider({ url })
  const number: bigint = await new web3.Web3(provider).eth.getBlockNumber()
  // @ts-expect-error an endpoint has one form, not two
  void (() => new adapter.KeyrailProvider({ url, apiKey: 'any' }))
  const response = await provider.request({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_getBlockByNumber',
    params: ['latest', false],
  })
  provider.disconnect()
  const { hash } = 'result' in response ? (response.result as { hash: string }) : { hash: undefined }
  return { number: `0x${number.toString(16)}`, hash }
}
