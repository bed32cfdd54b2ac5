import { createBlock } from '../subscription/scriptedChainNodes.ts'
import { byDefault } from '../subscription/scriptedNode.ts'
import type { ScriptedNode } from '../subscription/scriptedNode.ts'
import { openSocket, rejectSocket } from '../socket/openSocket.ts'
import type { OpenSocket } from '../socket/openSocket.ts'

/** Records a message that a client got by WebSocket. */
export type RecordSocket = (what: string, text: string) => void

/** A WebSocket to try: a URL with the headers and subprotocols of a caller. */
export interface SocketAttempt {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly protocols?: string[]
}

const tryOpen = async (
  { url, headers = {}, protocols = [] }: SocketAttempt,
  record: RecordSocket,
): Promise<OpenSocket | undefined> => {
  try {
    return await openSocket(url, { headers }, protocols)
  } catch {
    const rejection = await rejectSocket(url, { headers }, protocols)
    record('a rejected WebSocket', `${rejection.status} ${JSON.stringify(rejection.headers)} ${rejection.text}`)
    return undefined
  }
}

/** The id of calls whose responses name what the caller sent. */
const named = 'named'

const recordMessages = ({ ws }: OpenSocket, record: RecordSocket): void => {
  ws.on('message', (data: Buffer) => {
    const text = data.toString()
    if (!text.includes(`"id":"${named}"`)) record('a message of a WebSocket', text)
  })
}
const recordClose = (socket: OpenSocket, record: RecordSocket): void => {
  void socket.closed.then(({ code, reason }) => record('the close of a WebSocket', `${code} ${reason}`))
}

/**
 * Opens a WebSocket, and sends secrets in the wrong places: methods, params, ids, cursors, broken JSON, binary and the reason of a close frame.
 * @returns Whether it was accepted.
 */
export const sendSecrets = async (
  attempt: SocketAttempt,
  secrets: readonly string[],
  record: RecordSocket,
): Promise<boolean> => {
  const socket = await tryOpen(attempt, record)
  if (socket === undefined) return false
  recordMessages(socket, record)
  const send = (method: unknown, params: unknown, id: unknown = 1): void =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  for (const secret of secrets) {
    send('eth_blockNumber', [])
    send(secret, [], named)
    send('eth_subscribe', [secret], named)
    send('eth_subscribe', ['newHeads', { [secret]: secret }], named)
    send('eth_subscribe', ['newHeads', { cursor: { number: '0x1', hashes: [secret] } }])
    send('eth_subscribe', ['logs', { address: secret }])
    send('eth_subscribe', ['logs', { [secret]: 1 }], named)
    send('eth_subscribe', ['newPendingTransactions', secret])
    send('eth_unsubscribe', [secret])
    socket.send(`{"${secret}`)
    socket.send(Buffer.from(`"${secret}"`))
  }
  socket.send('{"jsonrpc":"2.0","id":"the last","method":"eth_gasPrice","params":[]}')
  for (let message = await socket.next(); !('id' in message) || message.id !== 'the last';)
    message = await socket.next()
  // The library repeats it in its own close frame.
  socket.ws.close(4_000, secrets[0])
  await socket.closed
  return true
}

/** Opens a WebSocket with subscriptions, and leaves it open. */
export const openSubscriptions = async (attempt: SocketAttempt, record: RecordSocket): Promise<OpenSocket> => {
  const socket = await tryOpen(attempt, record)
  if (socket === undefined) throw new Error('the WebSocket was rejected')
  recordMessages(socket, record)
  recordClose(socket, record)
  for (const params of [
    ['newHeads'],
    ['newHeads', { cursor: null }],
    ['logs', {}],
    ['newPendingTransactions'],
    ['syncing'],
  ])
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }))
  return socket
}

/** A block for a node that has only this one. */
export const onlyBlock = createBlock(undefined, { logCount: 0 })

/** A close frame that a node sends. RFC 6455 section 5.5.1. */
const createCloseFrame = (reason: string): Buffer => {
  const payload = Buffer.concat([Buffer.from([0x0f, 0xa0]), Buffer.from(reason)])
  return Buffer.concat([Buffer.from([0x88, payload.length]), payload])
}

/** Lets a node send its secrets over its WebSockets, in errors, notifications, messages that are no JSON and close frames. */
export const sendNodeSecrets = (node: ScriptedNode, secrets: readonly string[]): void => {
  for (const secret of secrets) {
    node.notify('newHeads', { [secret]: secret })
    node.notify('newPendingTransactions', `0x${'ab'.repeat(32)}`)
    node.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"${secret}"}}`)
    node.send(`no JSON: ${secret}`)
    node.send(createCloseFrame(secret))
  }
}

/** Makes a node reject each call over its WebSocket with an error that contains a secret. */
export const rejectWithSecret = (node: ScriptedNode, secret: string): void => {
  node.respond = ({ id, via, method }) =>
    via === 'ws' && method !== 'eth_chainId'
      ? { text: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"${secret}","data":"${secret}"}}` }
      : byDefault
}
