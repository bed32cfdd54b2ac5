import { KeyrailProvider } from '@keyrail/web3'
import { Web3 } from 'web3'

const provider = new KeyrailProvider({ url: process.argv[2] })
const number = await new Web3(provider).eth.getBlockNumber()
const call = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] }
const { result } = await provider.request(call)
provider.disconnect()

console.log(JSON.stringify({ number: `0x${number.toString(16)}`, hash: result.hash }))
