import { WebSocketProvider } from 'ethers'
import type { Log } from 'ethers'
import type { OpenLibrarySocket, SocketEvent } from './librarySocket.ts'

/** `WebSocketProvider` of ethers, with `on`. */
export const openEthers: OpenLibrarySocket = async (url) => {
  const provider = new WebSocketProvider(url)
  const events: SocketEvent[] = []
  const errors: string[] = []
  await provider.on('error', (error: Error) => errors.push(error.message))
  const blockNumber = await provider.getBlockNumber()
  await provider.on('block', (number: number) => events.push({ kind: 'head', number }))
  await provider.on({ topics: [] }, ({ blockHash, removed }: Log) =>
    events.push({ kind: 'log', hash: blockHash, removed }),
  )
  await provider.on('pending', (hash: string) => events.push({ kind: 'pending', hash }))
  return { blockNumber, events, errors, close: () => provider.destroy() }
}
