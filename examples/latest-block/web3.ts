import { KeyrailProvider } from '@keyrail/web3'
import { Web3 } from 'web3'
import { getEndpoint } from '../endpoint.ts'

const provider = new KeyrailProvider(getEndpoint())
const web3 = new Web3(provider)
const block = await web3.eth.getBlock('latest')
console.log(`Block ${block.number} is ${block.hash}`)
console.log(`Endpoint: ${provider.redactedUrl}`)
provider.disconnect()
