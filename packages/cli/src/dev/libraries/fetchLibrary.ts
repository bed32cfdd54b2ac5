import { createClient } from '@keyrail/fetch'
import type { Library } from './library.ts'

/** First calls through the typed client. */
export const fetchLibrary: Library = {
  name: '@keyrail/fetch',
  open: (address) => {
    const client = createClient(address)
    return {
      label: client.label,
      latestBlock: async () => {
        const block = await client.eth_getBlockByNumber('latest', false)
        if (block?.number == null || block.hash == null) throw new Error('the latest block has no number or no hash')
        return { number: block.number, hash: block.hash }
      },
      close: client.close,
    }
  },
}
