import type { EndpointUrlOptions } from '../endpoint/endpointUrlOptions.ts'
import { resolveEndpoint } from '../endpoint/resolveEndpoint.ts'
import type { RequestTarget } from '../endpoint/resolveEndpoint.ts'
import { check, checkNames, checkObject, checkRange } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import type { FailureFacts } from '../failure/failureFacts.ts'
import { readResponse } from '../message/readResponse.ts'
import { createNodeSubscriptions } from '../subscribe/createNodeSubscriptions.ts'
import { setNodeSubscriptions } from '../subscribe/getNodeSubscriptions.ts'
import type { Dispatch } from '../transport/call/createDispatch.ts'
import type { Endpoint, HttpEndpoint } from '../transport/endpoint/http.ts'
import type { Transport } from '../transport/transport.ts'
import { createSocket } from './createSocket.ts'
import { openSocket } from './openSocket.ts'
import type { WebSocketConstructor } from './openSocket.ts'
import { registerSocket } from './rpcSocket.ts'
import { getSocketCall } from './socketCall.ts'

/** Options of {@link webSocket}. */
export interface WebSocketOptions {
  /** The full URL for WebSocket connections, if it is not that of the endpoint. Not with `endpoints`. @default the URL of each endpoint, with `ws` or `wss` */
  readonly url?: string | undefined
  /** Sends every call over the connection, in place of HTTP. @default false: only subscriptions use it */
  readonly requests?: boolean | undefined
  /** Creates the connections, for example a subclass that uses a proxy. @default the WebSocket of the platform */
  readonly WebSocket?: WebSocketConstructor | undefined
  /** How long a connection may be silent before it is checked, in milliseconds. @default 25_000 */
  readonly heartbeatMs?: number | undefined
}

/** How an endpoint is opened with WebSocket. */
interface OpenOptions {
  readonly maxResponseBytes: number | undefined
  /** Whether the endpoint is one of `failover`. */
  readonly isOneOfSeveral: boolean
}

/** The value of the `webSocket` option of `createTransport`. Created by {@link webSocket}. */
export interface WebSocketFeature {
  /** Whether every call is sent over the connection. */
  readonly requests: boolean
  /** Adds the connection to an endpoint. */
  readonly open: (address: EndpointUrlOptions, http: HttpEndpoint, options: OpenOptions) => HttpEndpoint
  /** Keeps calls that must be sent over the connection, but not all calls are, from the batches and the circuit breaker of HTTP. */
  readonly bypass: <E extends Endpoint>(endpoint: E, direct: Endpoint) => E
  /** Makes the connections known to Keyrail's packages. */
  readonly register: (transport: Transport, dispatch: Dispatch) => void
}

/** As in RFC 3986 section 3.1, schemes have no case. */
const socketScheme = /^(?:ws|http)(?=s?:)/i

/**
 * Opens WebSocket connections for subscriptions and, with `requests`, for every call. A connection is opened for the first call that needs it, and
 * closed after `heartbeatMs` without use.
 *
 * A connection that breaks is opened again for the next call: after a random wait of up to 250 ms, which doubles with each failure up to 10 s and is
 * reset when a connection was open for a minute. A call that was sent before it broke is repeated if it is a read. A write is not, because it may
 * have run.
 *
 * @param options - The URL, and what the connection is used for.
 * @returns The value of the `webSocket` option.
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and how to fix it.
 * @example
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', webSocket: webSocket({ requests: true }) })
 * await transport.request({ method: 'eth_blockNumber' })
 * transport.close()
 * @see RFC 6455
 */
export function webSocket(options: WebSocketOptions = {}): WebSocketFeature {
  checkObject('webSocket', options, 'an object of options, such as { requests: true }')
  checkNames('webSocket', options, ['url', 'requests', 'WebSocket', 'heartbeatMs'])
  const { url, requests = false, WebSocket, heartbeatMs = 25_000 } = options
  check(typeof requests === 'boolean', `requests of webSocket must be true or false, not ${describeType(requests)}`)
  check(
    WebSocket === undefined || typeof WebSocket === 'function',
    `WebSocket must be a constructor, not ${describeType(WebSocket)}: pass the class itself`,
  )
  check(
    url === undefined || (typeof url === 'string' && socketScheme.test(url)),
    'url of webSocket must be a full URL that starts with wss:// or ws://',
  )
  checkRange('heartbeatMs', heartbeatMs, 1, 2 ** 31 - 1)

  const open: WebSocketFeature['open'] = (address, http, { maxResponseBytes = 2 ** 26, isOneOfSeveral }) => {
    check(
      url === undefined || !isOneOfSeveral,
      'url of webSocket cannot be used together with endpoints. Leave it out: each endpoint is used with ws or wss.',
    )
    const { redactedUrl, getTarget } = resolveEndpoint(url === undefined ? address : withUrl(address, url))
    const socket = createSocket({
      open: (events) => openSocket(async () => toSocketTarget(await getTarget()), WebSocket, events),
      redactedUrl: toSocketUrl(redactedUrl),
      chain: http.chain,
      heartbeatMs,
      maxResponseBytes,
      // Another URL says nothing about this one.
      explain: url === undefined ? (done) => requestRejection(http, done) : undefined,
    })
    return {
      ...http,
      send: (call, complete) => {
        const socketCall = getSocketCall(call)
        // Without a subscriber, nobody would get the notifications. Over HTTP, nodes reject the method.
        const usesSocket = call.method === 'eth_subscribe' ? typeof socketCall === 'object' : requests || socketCall
        ;(usesSocket ? socket : http).send(call, complete)
      },
      close: () => {
        socket.close()
        http.close()
      },
    }
  }

  return Object.freeze({
    requests,
    open,
    bypass: <E extends Endpoint>(endpoint: E, direct: Endpoint): E =>
      requests
        ? endpoint
        : {
            ...endpoint,
            send: (call, complete) => (getSocketCall(call) ? direct : endpoint).send(call, complete),
          },
    register: (transport: Transport, dispatch: Dispatch) => {
      registerSocket(transport, dispatch)
      setNodeSubscriptions(transport, createNodeSubscriptions(transport))
    },
  })
}

const toSocketUrl = (url: string): string => url.replace(/^http/i, 'ws')

const toSocketTarget = (target: RequestTarget): RequestTarget => ({
  ...target,
  url: toSocketUrl(target.url),
  redactedUrl: toSocketUrl(target.redactedUrl),
})

/** The options of an endpoint with another URL, which is written for HTTP because `resolveEndpoint` knows no other scheme. */
const withUrl = ({ jwt, headers, network }: EndpointUrlOptions, url: string): EndpointUrlOptions =>
  ({ url: url.replace(socketScheme, 'http'), jwt, headers, network }) as EndpointUrlOptions

/**
 * Finds out why a handshake was rejected: browsers and Node do not report the status, and the server rejects a POST for the same reason.
 *
 * @param done - Called with the facts of the failure; undefined if the POST succeeds.
 */
function requestRejection({ post }: HttpEndpoint, done: (facts: FailureFacts | undefined) => void): void {
  post('{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}', true, (facts, response) => {
    const read = response ? readResponse(response, { id: 1, method: 'eth_chainId' }) : (facts as FailureFacts)
    done('result' in read ? undefined : read)
  })
}
