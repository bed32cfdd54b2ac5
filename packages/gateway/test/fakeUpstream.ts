import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A call as the upstream saw it. */
export interface SeenCall {
  readonly id: number
  readonly method: string
  readonly params: unknown
}

/** What the upstream does with a call: returns the response's text, or does something worse to the response itself. */
export type Behaviour = (call: SeenCall, response: ServerResponse) => string | undefined

/** A node whose behaviour a test decides. */
export interface FakeUpstream {
  readonly url: string
  /** The bodies of all requests except the gateway's own queries. */
  readonly bodies: string[]
  /** The headers of the same requests. */
  readonly headers: IncomingMessage['headers'][]
  /** How many requests were cut by the caller before they got a response. */
  readonly cut: () => number
  /** The headers of the last request, also of the gateway's own queries. */
  lastHeaders: IncomingMessage['headers']
  behave: Behaviour
  /** Its latest and its finalized block, for the gateway's own queries. */
  head: number
  finalized: number
  /** Whether it says that it syncs, or the source text of its response to `eth_syncing`. */
  syncing: boolean | string
  /** Responds to the gateway's own queries; `undefined` leaves the response as it is otherwise. */
  behaveForQueries: ((call: SeenCall, response: ServerResponse) => string | undefined) | undefined
  /** Its chain id, for all queries of it. */
  chainId: number
  /** The methods of the gateway's own queries. */
  readonly probes: string[]
  /** How many cheap reads the gateway has sent on its own. */
  cheapReads: number
  /** Whether it responds to the gateway's own cheap read, which shows if it works although calls fail. */
  respondsToCheapRead: boolean
  /** Whether the responses in a batch are in reverse order, as JSON-RPC allows. */
  reversed: boolean
  readonly stop: () => Promise<void>
}

/** The response to a call with a result. */
export const result = (call: SeenCall, source: string): string => `{"jsonrpc":"2.0","id":${call.id},"result":${source}}`

const ok: Behaviour = (call) => result(call, '"0x1"')

/** Starts an upstream on a free port. It always responds to `eth_chainId`, with `chainId` at first. */
export const startFakeUpstream = async (chainId: number, path = ''): Promise<FakeUpstream> => {
  const bodies: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const sockets = new Set<Socket>()
  let cut = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const parsed = JSON.parse(body) as SeenCall | SeenCall[]
      upstream.lastHeaders = request.headers
      if (
        !Array.isArray(parsed) &&
        (parsed.method === 'eth_chainId' || request.headers['user-agent'] === 'keyrail-probe')
      ) {
        if (request.headers['user-agent'] === 'keyrail-probe') {
          upstream.probes.push(parsed.method)
          const text = upstream.behaveForQueries?.(parsed, response)
          if (text !== undefined) response.end(text)
          if (text !== undefined || response.headersSent) return
        }
        if (parsed.method === 'eth_getBalance') upstream.cheapReads += 1
        if (parsed.method === 'eth_getBalance' && !upstream.respondsToCheapRead) return
        const numbers: Record<string, number> = { eth_chainId: upstream.chainId, eth_blockNumber: upstream.head }
        if (parsed.method === 'eth_syncing') {
          const { syncing } = upstream
          const text = typeof syncing === 'string' ? syncing : syncing ? '{"currentBlock":"0x1"}' : 'false'
          response.end(result(parsed, text))
          return
        }
        const number = `"0x${(numbers[parsed.method] ?? upstream.finalized).toString(16)}"`
        response.end(result(parsed, parsed.method === 'eth_getBlockByNumber' ? `{"number":${number}}` : number))
        return
      }
      bodies.push(body)
      headers.push(request.headers)
      response.on('close', () => {
        if (!response.writableFinished && !response.headersSent) cut += 1
      })
      if (!Array.isArray(parsed)) {
        const text = upstream.behave(parsed, response)
        if (text !== undefined) response.end(text)
        return
      }
      const texts = parsed.map((call) => upstream.behave(call, response))
      if (!response.writableEnded && !response.destroyed && texts.every((text) => text !== undefined))
        response.end(`[${(upstream.reversed ? texts.toReversed() : texts).join(',')}]`)
    })
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const upstream: FakeUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    bodies,
    headers,
    cut: () => cut,
    lastHeaders: {},
    behave: ok,
    head: 100,
    finalized: 36,
    syncing: false,
    behaveForQueries: undefined,
    chainId,
    probes: [],
    cheapReads: 0,
    respondsToCheapRead: true,
    reversed: false,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return upstream
}
