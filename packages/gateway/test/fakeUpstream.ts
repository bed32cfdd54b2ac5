import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A call as the upstream saw it. */
export interface SeenCall {
  readonly id: number
  readonly method: string
  readonly params: unknown
}

/** What the upstream does with a call: an answer's text, or something worse done to the response itself. */
export type Behaviour = (call: SeenCall, response: ServerResponse) => string | undefined

/** A node that does what a test tells it to. */
export interface FakeUpstream {
  readonly url: string
  /** The bodies of all requests, but for the gateway's own questions. */
  readonly bodies: string[]
  /** Headers of all those requests. */
  readonly headers: IncomingMessage['headers'][]
  /** Requests whose connection was cut by the caller before they were answered. */
  readonly cut: () => number
  behave: Behaviour
  /** What it tells the gateway's own questions for its newest and its finalized block. */
  head: number
  finalized: number
  /** Whether it answers the gateway's own question by which it finds out if calls failed of themselves. */
  answersLightRead: boolean
  /** Whether a batch is answered last call first, as JSON-RPC allows. */
  reversed: boolean
  readonly stop: () => Promise<void>
}

/** Answers with a result. */
export const result = (call: SeenCall, source: string): string => `{"jsonrpc":"2.0","id":${call.id},"result":${source}}`

const ok: Behaviour = (call) => result(call, '"0x1"')

/** Starts an upstream on a free port. Its `eth_chainId` is always right unless `chainId` lies. */
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
      if (
        !Array.isArray(parsed) &&
        (parsed.method === 'eth_chainId' || request.headers['user-agent'] === 'keyrail-probe')
      ) {
        if (parsed.method === 'eth_getBalance' && !upstream.answersLightRead) return
        const numbers: Record<string, number> = { eth_chainId: chainId, eth_blockNumber: upstream.head }
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
    behave: ok,
    head: 100,
    finalized: 36,
    answersLightRead: true,
    reversed: false,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return upstream
}
