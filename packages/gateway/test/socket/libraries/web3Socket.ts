import { Web3, WebSocketProvider } from 'web3'
import type { OpenLibrarySocket, SocketEvent } from './librarySocket.ts'

/** `WebSocketProvider` of web3.js, with `eth.subscribe`. */
export const openWeb3: OpenLibrarySocket = async (url) => {
  const provider = new WebSocketProvider(url)
  const web3 = new Web3(provider)
  const events: SocketEvent[] = []
  const errors: string[] = []
  const onError = (error: Error): void => {
    errors.push(error.message)
  }
  const add = (event: SocketEvent): void => {
    events.push(event)
  }
  provider.on('error', (error: unknown) => {
    errors.push(String(error))
  })
  const blockNumber = Number(await web3.eth.getBlockNumber())
  const heads = await web3.eth.subscribe('newBlockHeaders')
  heads.on('data', ({ number, hash }) => add({ kind: 'head', number: Number(number), hash: String(hash) }))
  heads.on('error', onError)
  const logs = await web3.eth.subscribe('logs', {})
  logs.on('data', (log) =>
    add({
      kind: 'log',
      hash: String(typeof log === 'string' ? undefined : log.blockHash),
      removed: typeof log !== 'string' && log.removed === true,
    }),
  )
  logs.on('error', onError)
  const pending = await web3.eth.subscribe('pendingTransactions')
  pending.on('data', (hash) => add({ kind: 'pending', hash }))
  pending.on('error', onError)
  return { blockNumber, events, errors, close: () => provider.disconnect() }
}
