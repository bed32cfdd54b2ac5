import { KeyrailProvider } from '@keyrail/web3'
import { Web3 } from 'web3'
import { address } from '../address.ts'

const provider = new KeyrailProvider(address())
const web3 = new Web3(provider)
const block = await web3.eth.getBlock('latest')
console.log(`Block ${block.number} is ${block.hash}`)
console.log(`Asked at ${provider.redactedUrl}`)
provider.disconnect()
