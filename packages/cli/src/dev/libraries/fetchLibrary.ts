import { createClient } from '@keyrail/fetch'
import { blockHead } from './blockHead.ts'
import type { Library } from './library.ts'

/** First calls through the typed client. */
export const fetchLibrary: Library = {
  name: '@keyrail/fetch',
  load: async () => (address) => {
    const client = createClient(address)
    return {
      latestBlock: async () => blockHead(await client.eth_getBlockByNumber('latest', false)),
      close: client.close,
    }
  },
}
