import { createTransport } from '@keyrail/core'
import { blockHead } from './blockHead.ts'
import type { Library } from './library.ts'

/** First calls through a client of viem. */
export const viemLibrary: Library = {
  name: '@keyrail/viem',
  load: async () => {
    const [{ keyrail }, { createPublicClient }] = await Promise.all([import('@keyrail/viem'), import('viem')])
    return (address) => {
      const transport = createTransport(address)
      const client = createPublicClient({ transport: keyrail(transport) })
      return {
        latestBlock: async () => blockHead(await client.getBlock({ blockTag: 'latest' })),
        close: transport.close,
      }
    }
  },
}
