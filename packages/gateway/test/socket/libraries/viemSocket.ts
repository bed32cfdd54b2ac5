import { createPublicClient, webSocket } from 'viem'
import type { OpenLibrarySocket, SocketEvent } from './librarySocket.ts'

/** `webSocket()` of viem, with its watchers. */
export const openViem: OpenLibrarySocket = async (url) => {
  const client = createPublicClient({ transport: webSocket(url) })
  const events: SocketEvent[] = []
  const errors: string[] = []
  const onError = (error: Error): number => errors.push(error.message)
  const blockNumber = Number(await client.getBlockNumber())
  client.watchBlocks({
    onBlock: ({ number, hash }) => events.push({ kind: 'head', number: Number(number), hash }),
    onError,
  })
  client.watchEvent({
    onLogs: (logs) => {
      for (const { blockHash, removed } of logs) events.push({ kind: 'log', hash: blockHash, removed })
    },
    onError,
  })
  client.watchPendingTransactions({
    onTransactions: (hashes) => {
      for (const hash of hashes) events.push({ kind: 'pending', hash })
    },
    onError,
  })
  return {
    blockNumber,
    events,
    errors,
    close: async () => (await client.transport.getRpcClient()).close(),
  }
}
