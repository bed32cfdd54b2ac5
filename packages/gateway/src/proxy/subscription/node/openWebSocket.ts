import { WebSocket } from 'ws'
import type { ClientOptions } from 'ws'
import type { UpstreamHeaders } from '../../options/upstreamOptions.ts'
import { getCredentials } from '../../upstream/upstreamSecrets.ts'

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
/** How long a node may take to close the connection after its close frame. */
const closeTimeoutMs = 1_000

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
  const credentials = getCredentials(url)
  const target = new URL(url)
  target.username = ''
  target.password = ''
  let isClosed = false
  const options: ClientOptions & { readonly closeTimeout: number } = {
    headers: { 'user-agent': 'keyrail', ...headers },
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    closeTimeout: closeTimeoutMs,
    ...(credentials === undefined ? {} : { auth: credentials }),
  }
  const webSocket = new WebSocket(target, options)
  const end = (): void => {
    isClosed = true
    // Sends the close frame, if the connection is open.
    webSocket.close()
    webSocket.terminate()
  }
  const fail = (): void => {
    if (isClosed) return
    end()
    onClose()
  }
  webSocket.on('open', () => {
    if (!isClosed) onOpen()
  })
  webSocket.on('message', (data: Buffer, isBinary) => {
    if (isClosed) return
    if (isBinary) fail()
    else onMessage(data.toString())
  })
  webSocket.on('error', fail)
  webSocket.on('close', fail)
  return {
    send: (text) => webSocket.send(text),
    close: () => {
      if (!isClosed) end()
    },
  }
}
