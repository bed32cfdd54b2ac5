import { KeyrailProvider } from '@keyrail/ethers'
import { toQuantity } from 'ethers'

const provider = new KeyrailProvider({ url: process.argv[2] })
const number = await provider.getBlockNumber()
const { hash } = await provider.send('eth_getBlockByNumber', ['latest', false])
provider.destroy()

console.log(JSON.stringify({ number: toQuantity(number), hash }))
