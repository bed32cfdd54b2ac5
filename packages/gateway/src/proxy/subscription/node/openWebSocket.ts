import type { Socket } from 'node:net'
import { buildConnector, Client, WebSocket } from 'undici'
import type { UpstreamHeaders } from '../../upstream/upstreamHeaders.ts'

/** A WebSocket connection to a node. */
export interface NodeConnection {
  /** Sends a text message. Call it only after `onOpen`. */
  readonly send: (text: string) => void
  /** Closes the connection without waiting for the node. No handler is called any more. */
  readonly close: () => void
}

/** Events of a connection. No function is called after `onClose`. */
export interface ConnectionHandlers {
  readonly onOpen: () => void
  readonly onMessage: (text: string) => void
  /** The node closed it, or it could not be opened, or the node sent a message that is not text or is too large. */
  readonly onClose: () => void
}

/** A notification holds a header or a hash. Nodes that send whole transactions stay below this, too. */
const maxMessageBytes = 1024 * 1024

const connect = buildConnector({ allowH2: false })

/**
 * Opens a WebSocket connection to a node. Redirects are not followed.
 * @param url - ws or wss. User and password become a Basic authorization.
 * @param headers - Sent with the handshake.
 */
export const openWebSocket = (
  url: URL,
  headers: UpstreamHeaders,
  { onOpen, onMessage, onClose }: ConnectionHandlers,
): NodeConnection => {
  const { username, password } = url
  const target = new URL(url)
  target.username = ''
  target.password = ''
  let socket: Socket | undefined
  let isClosed = false
  const client = new Client(target.origin.replace(/^ws/, 'http'), {
    allowH2: false,
    webSocket: { maxPayloadSize: maxMessageBytes },
    // undici's WebSocket cannot end a connection whose node does not respond, so this gets hold of the socket.
    connect: (options, callback) =>
      connect(options, (...result) => {
        const [error, opened] = result
        if (error !== null) return callback(error, null)
        socket = opened
        callback(null, opened)
      }),
  })
  const webSocket = new WebSocket(target, {
    dispatcher: client,
    headers: {
      ...headers,
      ...(username === '' && password === '' ? {} : { authorization: toBasic(username, password) }),
    },
  })
  webSocket.binaryType = 'arraybuffer'

  const end = (): void => {
    isClosed = true
    // Sends the close frame, if the connection is open.
    webSocket.close()
    void client.destroy()
    socket?.destroySoon()
  }
  const fail = (): void => {
    if (isClosed) return
    end()
    onClose()
  }
  webSocket.addEventListener('open', () => {
    if (!isClosed) onOpen()
  })
  webSocket.addEventListener('message', ({ data }) => {
    if (isClosed) return
    if (typeof data === 'string') onMessage(data)
    else fail()
  })
  webSocket.addEventListener('close', fail)
  return {
    send: (text) => webSocket.send(text),
    close: () => {
      if (!isClosed) end()
    },
  }
}

const toBasic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64')}`

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
