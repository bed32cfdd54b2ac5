import { result } from './fakeUpstream.ts'
import type { Behaviour } from './fakeUpstream.ts'

/** A way in which the first of two nodes fails, so that only the second has the right response to a read. */
export interface NodeFailure {
  /** Ends the sentence "the first node fails: …". */
  readonly name: string
  readonly behave: Behaviour
  /** @default 'eth_call' */
  readonly method?: string
  /** Creates the params of a call. @default a call at block 100 */
  readonly params?: () => unknown[]
  /** Its chain id, if it is on another chain. */
  readonly chainId?: number
  /** Its newest block, if that is not block 100, which the second node has. */
  readonly head?: number
}

/** Responds with a JSON-RPC error. */
export const error = (code: number, message: string, data?: unknown): Behaviour => {
  const text = JSON.stringify({ code, message, ...(data === undefined ? {} : { data }) })
  return (call) => `{"jsonrpc":"2.0","id":${call.id},"error":${text}}`
}

/** Responds with `null`. */
export const nothing: Behaviour = (call) => result(call, 'null')

/** Sends one response for all calls of a request. */
export const whole =
  (status: number, text: string, headers: Record<string, string> = {}): Behaviour =>
  (_, response) => {
    if (!response.writableEnded) response.writeHead(status, headers).end(text)
    return undefined
  }

/** Resets the connection. */
export const reset: Behaviour = (_, response) => void response.socket?.resetAndDestroy()

/** Closes the connection in the middle of the response. */
export const cut: Behaviour = (_, response) => {
  if (!response.headersSent) response.writeHead(200, { 'content-length': '1000' }).write('[{"jsonrpc":"2.0","id":1,')
  response.socket?.end()
  return undefined
}

/** Never responds. */
export const hang: Behaviour = () => undefined

let hashes = 0
/** Creates a hash that no call had before, so that neither a cache nor the confirmed nulls know it. */
export const newHash = (): string => `0x${(++hashes).toString(16).padStart(64, '0')}`

const missing = (name: string, method: string, params: () => unknown[]): NodeFailure => ({
  name,
  behave: nothing,
  method,
  params,
})
const byHash = (): unknown[] => [newHash()]

/** The ways in which a node fails whose chain and head are right. */
export const nodeFailures: readonly NodeFailure[] = [
  { name: 'its state is pruned', behave: error(-32000, 'missing trie node 0a1b (path ) state 0x12 is not available') },
  { name: 'its history is pruned', behave: error(4444, 'pruned history unavailable') },
  {
    name: 'its daily requests are used up',
    behave: error(-32005, 'daily request count exceeded, request rate limited'),
  },
  { name: 'it is throttled', behave: error(429, 'Your app has exceeded its compute units per second capacity') },
  { name: 'it does not have the method', behave: error(-32601, 'the method eth_call does not exist/is not available') },
  { name: 'it does not have the block yet', behave: error(-32000, 'header not found') },
  { name: 'it is syncing', behave: error(-32000, 'node is still syncing') },
  { name: 'it has an internal error', behave: error(-32603, 'Internal error') },
  { name: 'it could not relay the call', behave: error(-32000, 'failed to forward request to upstream') },
  { name: 'it rejects its key', behave: error(-32016, 'Unauthorized: invalid API key') },
  { name: 'its plan does not include the call', behave: error(-32000, 'this method is not available on your plan') },
  { name: 'it ran out of time', behave: error(-32000, 'execution aborted (timeout = 5s)') },
  { name: 'it is on another network', behave: error(-32000, 'network is not supported') },
  { name: 'it has an error that nobody knows', behave: error(-32000, 'flux compensator') },
  missing('it has no block', 'eth_getBlockByHash', () => [newHash(), false]),
  missing('it has no block of a number', 'eth_getBlockByNumber', () => ['0x64', false]),
  missing('it has no transaction', 'eth_getTransactionByHash', byHash),
  missing('it has no receipt', 'eth_getTransactionReceipt', byHash),
  missing('it has no receipts of a block', 'eth_getBlockReceipts', () => ['0x60']),
  missing('it has no uncle', 'eth_getUncleByBlockNumberAndIndex', () => ['0x60', '0x0']),
  { name: 'it responds with 401', behave: whole(401, 'Unauthorized') },
  { name: 'it responds with 402', behave: whole(402, 'Payment required') },
  { name: 'it responds with 403', behave: whole(403, '<html>Forbidden</html>') },
  { name: 'it responds with 404', behave: whole(404, 'page not found') },
  { name: 'it responds with 429', behave: whole(429, 'slow down', { 'retry-after': '7' }) },
  { name: 'it responds with 500', behave: whole(500, 'oops') },
  { name: 'it responds with 502', behave: whole(502, '<html><title>502 Bad Gateway</title></html>') },
  { name: 'it responds with 503', behave: whole(503, '') },
  { name: 'it responds with 504', behave: whole(504, '') },
  { name: 'it redirects', behave: whole(302, '', { location: 'http://127.0.0.1:1/' }) },
  { name: 'it sends an HTML page', behave: whole(200, '<html>welcome</html>') },
  { name: 'it sends a text', behave: whole(200, 'Max rate limit reached') },
  { name: 'it sends nothing', behave: whole(200, '') },
  { name: 'it sends another JSON', behave: whole(200, '{"status":"ok"}') },
  { name: 'it sends an error without an id', behave: whole(200, '{"error":{"code":-32005,"message":"rate limit"}}') },
  { name: 'its response is cut off', behave: cut },
  { name: 'it resets the connection', behave: reset },
  { name: 'it responds with another id', behave: (call) => result({ ...call, id: call.id + 1_000 }, '"first"') },
]

/** A node that works, on the wrong chain or behind. */
export const nodeStates = {
  otherChain: { name: 'it is on another chain', chainId: 5, behave: (call) => result(call, '"first"') },
  farBehind: { name: 'it is far behind', head: 10, behave: (call) => result(call, '"first"') },
  littleBehind: {
    ...missing('it is a little behind', 'eth_getBlockByNumber', () => ['0x64', false]),
    head: 97,
  },
} satisfies Record<string, NodeFailure>

/** A node that never responds. */
export const hangingNode: NodeFailure = { name: 'it hangs', behave: hang }

/**
 * Creates the text of a call that a node fails.
 * @param more - Params that follow its own, so that calls differ and none is joined with another. @default none
 */
export const createCall = (
  { method = 'eth_call', params = () => [{}, '0x64'] }: Pick<NodeFailure, 'method' | 'params'>,
  id: number,
  more: readonly unknown[] = [],
): string => JSON.stringify({ jsonrpc: '2.0', id, method, params: [...params(), ...more] })

/** Creates the text of a batch of three calls that a node fails. */
export const createBatch = (failure: Pick<NodeFailure, 'method' | 'params'>): string =>
  `[${[1, 2, 3].map((id) => createCall(failure, id, [id])).join(',')}]`
