import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { until, useFakeClock } from './useFakeClock.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions, FullTransport } from './fullTransport.ts'

// Like `abortEverywhere.test.ts`, but over real connections: the server must see each of them close.

let server: Server
let port: number
let open: Set<Socket>
/** Called with the socket of each request. Not called while the connection is not established. */
let reply: (socket: Socket) => void

beforeEach(async () => {
  open = new Set()
  server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    socket.on('data', () => reply(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ;({ port } = server.address() as AddressInfo)
})
afterEach(() => {
  vi.useRealTimers()
  for (const socket of open) socket.destroy()
  server.close()
})

const silent = (): void => {}
const places: Record<string, { readonly scheme: string; readonly reply: (socket: Socket) => void }> = {
  // The server never responds to the TLS handshake.
  'while it connects': { scheme: 'https', reply: silent },
  'waiting for the head of the response': { scheme: 'http', reply: silent },
  'in the middle of the head': { scheme: 'http', reply: (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-') },
  'in the middle of the body': {
    scheme: 'http',
    reply: (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"jsonrpc":'),
  },
  'in the middle of a body in chunks': {
    scheme: 'http',
    reply: (socket) => void socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{"js\r\n'),
  },
}
const ways = ['its signal', 'its deadline', 'the close of the transport', 'the close of its group'] as const
const httpClients: Record<string, Partial<FullOptions>> = { 'node:http': {}, fetch: { fetch: globalThis.fetch } }

/** The sockets that this process holds open as a client. */
const getOpenSockets = (): string[] =>
  process.getActiveResourcesInfo().filter((name) => /^(TLS|TCP)(Socket|CONNECT)/i.test(name))

describe.each(Object.keys(httpClients))('through %s', (httpClient) => {
  describe.each(ways)('a call ended by %s leaves no connection', (way) => {
    // An abort does not stop fetch from connecting. It gives up only after ten seconds.
    const reachable = Object.keys(places).filter((name) => httpClient !== 'fetch' || name !== 'while it connects')
    test.each(reachable)('%s', async (name) => {
      const place = places[name] as (typeof places)[string]
      let onRequest = (): void => {}
      const requested = new Promise<void>((resolve) => (onRequest = resolve))
      reply = (socket) => {
        place.reply(socket)
        onRequest()
      }
      const before = getOpenSockets().length
      const transport: FullTransport = createFullTransport({
        url: `${place.scheme}://127.0.0.1:${port}`,
        retry: false,
        ...httpClients[httpClient],
      } as FullOptions)
      const group = transport.group()
      const controller = new AbortController()
      const reason = { mine: 'reason' }
      const timeoutMs = 10_000
      useFakeClock()
      const call = group.request({ method: 'eth_chainId' }, { signal: controller.signal, timeoutMs })
      const outcome = call.catch((error: unknown) => error)
      await requested
      if (way === 'its signal') controller.abort(reason)
      else if (way === 'its deadline') await vi.advanceTimersByTimeAsync(timeoutMs)
      else if (way === 'the close of the transport') transport.close()
      else if (way === 'the close of its group') group.close()
      const ended = await outcome
      if (way === 'its signal') expect(ended).toBe(reason)
      else expect(ended).toMatchObject({ kind: way === 'its deadline' ? 'timeout' : 'aborted' })
      expect(transport.stats().inFlight).toBe(0)
      await until(() => open.size === 0)
      await expect.poll(() => getOpenSockets().length).toBeLessThanOrEqual(before)
      transport.close()
    })
  })
})
