import { blockHead } from './blockHead.ts'
import type { Library } from './library.ts'

/** First calls through web3.js. */
export const web3Library: Library = {
  name: '@keyrail/web3',
  load: async () => {
    const [{ KeyrailProvider }, { Web3 }] = await Promise.all([import('@keyrail/web3'), import('web3')])
    return (address) => {
      const provider = new KeyrailProvider(address)
      const { eth } = new Web3(provider)
      return {
        latestBlock: async () => blockHead(await eth.getBlock('latest')),
        close: () => provider.disconnect(),
      }
    }
  },
}
