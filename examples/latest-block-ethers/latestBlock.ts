import { KeyrailProvider } from '@keyrail/ethers'
import { address } from '../address.ts'

const provider = new KeyrailProvider(address())
const block = await provider.getBlock('latest')
console.log(`Block ${block?.number} is ${block?.hash}`)
console.log(`Asked at ${provider._getConnection().url}`)
provider.destroy()
