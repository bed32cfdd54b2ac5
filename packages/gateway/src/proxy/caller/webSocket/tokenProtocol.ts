import type { IncomingMessage } from 'node:http'

/** The subprotocol that says that the next one is a token. */
export const tokenProtocol = 'bearer'

/**
 * Uses the token in the subprotocols of a WebSocket like one in the `Authorization` header. Browsers cannot send headers with a WebSocket, but
 * they can with `new WebSocket(url, ['bearer', token])`. A token in the URL would be in the logs of every proxy; subprotocols are not. The service
 * accepts the protocol `bearer`, so the token is not repeated in the response. An `Authorization` header comes first.
 */
export const addProtocolToken = ({ headers }: IncomingMessage): void => {
  const [protocol, token, ...rest] = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim())
  if (protocol === tokenProtocol && token !== undefined && rest.length === 0)
    headers.authorization ??= `Bearer ${token}`
}
