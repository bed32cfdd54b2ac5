import { blockHead } from './blockHead.ts'
import type { Library } from './library.ts'

/** First calls through a provider of ethers. */
export const ethersLibrary: Library = {
  name: '@keyrail/ethers',
  load: async () => {
    const { KeyrailProvider } = await import('@keyrail/ethers')
    return (address) => {
      const provider = new KeyrailProvider(address)
      return {
        latestBlock: async () => blockHead(await provider.getBlock('latest')),
        close: () => provider.destroy(),
      }
    }
  },
}
