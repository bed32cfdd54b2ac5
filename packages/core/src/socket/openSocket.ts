import type { RequestTarget } from '../endpoint/resolveEndpoint.ts'
import { getUserAgentHeader } from '../endpoint/userAgent.ts'
import { invalidRequest } from '../failure/check.ts'
import type { FailureFacts } from '../failure/failureFacts.ts'
import { readString } from '../http/readString.ts'
import { readResponse } from '../message/readResponse.ts'
import { withoutTracing } from '../observe/withoutTracing.ts'
import { toCloseFacts } from './closeFacts.ts'

/** A constructor of WebSocket connections, such as that of the platform or of the package `ws`. */
export type WebSocketConstructor = new (url: string, ...rest: never[]) => object

/** The members of every WebSocket implementation, and some that only `ws` has. */
interface PlatformSocket {
  binaryType: string
  onopen: (() => void) | null
  onmessage: ((event: { readonly data: unknown }) => void) | null
  onerror: ((event: unknown) => void) | null
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null
  readonly send: (text: string) => void
  readonly close: (code?: number) => void
  readonly terminate?: () => void
  readonly on?: (
    event: 'unexpected-response',
    listener: (request: { readonly destroy: () => void }, response: Rejection) => void,
  ) => void
}

/** The part of Node's `IncomingMessage` that the response to a rejected handshake is read with. */
interface Rejection {
  readonly statusCode?: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly setEncoding: (encoding: 'utf8') => void
  readonly on: (event: 'data' | 'error' | 'close', listener: (chunk: string) => void) => void
}

/** Why a connection ended. */
export interface SocketEnd {
  readonly facts: FailureFacts
  /** True if the server rejected the handshake, or could not be reached, and the platform does not report which, or with which status. */
  readonly isHidden: boolean
}

/** Events of a connection. No function is called before `openSocket` has returned, or after `close`. */
export interface SocketEvents {
  readonly onOpen: () => void
  readonly onMessage: (text: string) => void
  /** Called once, also if the connection was never open. */
  readonly onEnd: (end: SocketEnd) => void
}

/** A connection. */
export interface OpenSocket {
  /** The URL without its key, once it is known, and the secrets that errors must not show. */
  readonly context: () => Pick<RequestTarget, 'redactedUrl' | 'secrets'> | undefined
  readonly send: (text: string) => void
  /** Ends the connection: with a close frame, or at once if the server does not respond any more. */
  readonly close: (isDead: boolean) => void
}

/** Longer bodies of rejected handshakes are cut, in characters. */
const MAX_REJECTION_LENGTH = 65_536

/**
 * Opens a WebSocket connection, with the given constructor or the one of the platform.
 *
 * @param getTarget - Returns the URL, with `ws` or `wss`, and the headers. Called once.
 * @param given - Creates connections in place of the platform's WebSocket.
 * @param events - What to call.
 * @see https://websockets.spec.whatwg.org
 */
export function openSocket(
  getTarget: () => RequestTarget | Promise<RequestTarget>,
  given: WebSocketConstructor | undefined,
  events: SocketEvents,
): OpenSocket {
  let target: RequestTarget | undefined
  let socket: PlatformSocket | undefined
  let isOpen = false
  let over = false

  /** Removes the listeners, which hold the state of the connection. `ws` would throw errors that nobody listens to. */
  const stop = (): void => {
    over = true
    if (socket) Object.assign(socket, { onopen: null, onmessage: null, onclose: null, onerror: ignore })
  }

  const end = (facts: FailureFacts, isHidden = false): void => {
    if (over) return
    stop()
    events.onEnd({ facts, isHidden })
  }

  const listen = (opened: PlatformSocket): void => {
    let errorText = ''
    opened.binaryType = 'arraybuffer'
    opened.onopen = () => {
      isOpen = true
      if (!over) events.onOpen()
    }
    opened.onmessage = ({ data }) => {
      if (!over) events.onMessage(toText(data))
    }
    opened.onerror = (event) => {
      errorText = readString(() => Object(event).message)
    }
    opened.onclose = ({ code, reason }) => {
      if (isOpen) return end(toCloseFacts(code, reason))
      end({ kind: 'network', text: `the WebSocket handshake failed${errorText && `: ${errorText}`}` }, true)
    }
    opened.on?.('unexpected-response', (request, response) => {
      void readRejection(response).then((facts) => {
        end(facts)
        request.destroy()
      })
    })
  }

  const open = async (): Promise<void> => {
    const Constructor = given ?? getPlatformWebSocket()
    target = await getTarget()
    if (over) return
    socket = withoutTracing(() => createPlatformSocket(Constructor, target as RequestTarget, given !== undefined))
    listen(socket)
  }
  // After this function has returned: a given constructor may do anything.
  Promise.resolve()
    .then(open)
    .catch(({ message }: Error) => end({ kind: 'invalidRequest', text: message }))

  return {
    context: () => target,
    send: (text) => socket?.send(text),
    close: (isDead) => {
      stop()
      if (isDead && socket?.terminate) socket.terminate()
      else socket?.close(isOpen ? 1000 : undefined)
    },
  }
}

const ignore = (): void => {}

/** The text of a message. Some servers send binary messages. */
const toText = (data: unknown): string =>
  typeof data === 'string' ? data : readString(() => new TextDecoder().decode(data as ArrayBuffer))

/** Returns the constructor of the platform. */
function getPlatformWebSocket(): WebSocketConstructor {
  const platform = (globalThis as { readonly WebSocket?: WebSocketConstructor }).WebSocket
  if (platform) return platform
  throw invalidRequest(
    'This platform has no WebSocket. Use Node 22 or later, or pass a constructor: webSocket({ WebSocket }).',
  )
}

/**
 * Creates the WebSocket. `ws`, Node, Bun and Deno take headers as an option, and React Native as an option after the protocols. Browsers take that
 * option for the name of a protocol, and throw: they can only send a token, as a protocol, which services of Keyrail accept. A given constructor gets
 * options only for the user's own headers: they may replace its own options, such as the agent of a proxy.
 */
function createPlatformSocket(
  Constructor: WebSocketConstructor,
  { url, headers }: RequestTarget,
  isGiven: boolean,
): PlatformSocket {
  const create = (...options: unknown[]): PlatformSocket =>
    new Constructor(url, ...(options as never[])) as PlatformSocket
  const { 'content-type': _, ...extra } = headers
  const { authorization = '', 'user-agent': userAgent, ...others } = extra
  const [, token] = /^Bearer (\S+)$/.exec(authorization) ?? []
  const hasOthers = Object.keys(others).length > 0 || userAgent !== getUserAgentHeader()['user-agent']
  const hasOwn = hasOthers || authorization !== ''
  // It would ignore headers in place of the protocols.
  const isReactNative = !isGiven && Object(globalThis.navigator).product === 'ReactNative'
  try {
    if (hasOwn || (userAgent !== undefined && !isGiven))
      return isReactNative ? create(null, { headers: extra }) : create({ headers: extra })
  } catch {
    // It takes no headers.
  }
  try {
    if (!hasOwn) return create()
  } catch (error) {
    throw invalidRequest(`The platform cannot open the WebSocket: ${readString(() => Object(error).message)}`)
  }
  try {
    if (token && !hasOthers) return create(['bearer', token])
  } catch {
    // The token has characters that a protocol must not have.
  }
  throw invalidRequest(
    "This platform's WebSocket can send a jwt, but no headers and no credentials in the URL. Leave webSocket out, or pass a constructor that sends headers: webSocket({ WebSocket }).",
  )
}

/** Reads the response to a handshake that the server rejected. It is that of a rejected POST. */
function readRejection(response: Rejection): Promise<FailureFacts> {
  return new Promise((resolve) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text = (text + chunk).slice(0, MAX_REJECTION_LENGTH)
    })
    response.on('error', () => {})
    response.on('close', () => {
      const { statusCode: status = 0, headers } = response
      const header = (name: string): string | undefined => headers[name] as string | undefined
      const read = readResponse({ status, text, header }, { id: 0, method: 'eth_subscribe' })
      resolve(
        'result' in read
          ? { kind: 'badResponse', status, text: 'the server does not accept WebSocket at this URL' }
          : read,
      )
    })
  })
}
