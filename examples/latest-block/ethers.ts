import { KeyrailProvider } from '@keyrail/ethers'
import { getEndpoint } from '../endpoint.ts'

const provider = new KeyrailProvider(getEndpoint())
const block = await provider.getBlock('latest')
console.log(`Block ${block?.number} is ${block?.hash}`)
console.log(`Endpoint: ${provider._getConnection().url}`)
provider.destroy()
