import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A request as the client sent it. */
export interface RelayedRequest {
  readonly method: string
  /** The target: path and query. */
  readonly path: string
  /** Names as they were sent, and values. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

/** Replaces a request. @returns The bytes to send instead; `undefined` forwards it unchanged. */
export type ReplaceRequest = (request: RelayedRequest) => string | undefined

/** A proxy between a client and the service, which counts requests and can replace them. */
export interface Relay {
  readonly url: string
  readonly requests: readonly RelayedRequest[]
  /** When the first request was forwarded, by `performance.now`. */
  readonly firstAt: () => number
  /** Everything that the service has sent. */
  readonly received: () => string
  readonly close: () => Promise<void>
}

/** The bytes of a request. */
export const toBytes = ({ method, path, headers, body }: RelayedRequest): string =>
  `${method} ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`

/** The same request with another body and its length. */
export const withBody = (request: RelayedRequest, body: string): RelayedRequest => ({
  ...request,
  body,
  headers: [
    ...request.headers.filter(([name]) => !/^(content-length|transfer-encoding)$/i.test(name)),
    ['Content-Length', String(Buffer.byteLength(body, 'latin1'))],
  ],
})

const readChunks = (rest: string): { readonly body: string; readonly length: number } | undefined => {
  let body = ''
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = parseInt(rest.slice(at, lineEnd), 16)
    const end = lineEnd + 2 + size + 2
    if (rest.length < end) return undefined
    if (size === 0) return { body, length: end }
    body += rest.slice(lineEnd + 2, lineEnd + 2 + size)
    at = end
  }
}

/** Reads the first complete request, and its length. The text has one character for each byte. */
const readRequest = (text: string): { readonly request: RelayedRequest; readonly length: number } | undefined => {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [line = '', ...lines] = text.slice(0, headEnd).split('\r\n')
  const [method = '', path = ''] = line.split(' ')
  const headers = lines.map((one): readonly [string, string] => [
    one.slice(0, one.indexOf(':')),
    one.slice(one.indexOf(':') + 1).trim(),
  ])
  const getHeader = (wanted: string): string | undefined => headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
  const rest = text.slice(headEnd + 4)
  const chunked = getHeader('transfer-encoding') === 'chunked'
  const size = Number(getHeader('content-length') ?? 0)
  const found = chunked
    ? readChunks(rest)
    : rest.length < size
      ? undefined
      : { body: rest.slice(0, size), length: size }
  return found && { request: { method, path, headers, body: found.body }, length: headEnd + 4 + found.length }
}

/**
 * Starts a relay in front of a port of this machine.
 * @param options.replace - Replaces requests. @default forwards them unchanged
 * @param options.started - Open connections with the start of a request. They are used before others are opened.
 */
export const startRelay = async (
  port: number,
  { replace = () => undefined, started = [] }: { replace?: ReplaceRequest; started?: Socket[] } = {},
): Promise<Relay> => {
  const requests: RelayedRequest[] = []
  let received = ''
  let firstAt = Infinity
  const open = new Set<Socket>()
  const server = createServer({ noDelay: true }, (client) => {
    const service = started.shift() ?? connect(port, '127.0.0.1')
    let buffered = ''
    open.add(client).add(service)
    client.setEncoding('latin1').on('data', (text: string) => {
      buffered += text
      for (let next = readRequest(buffered); next !== undefined; next = readRequest(buffered)) {
        requests.push(next.request)
        firstAt = Math.min(firstAt, performance.now())
        const replacement = replace(next.request)
        service.write(replacement ?? buffered.slice(0, next.length), 'latin1')
        buffered = buffered.slice(next.length)
      }
    })
    service.on('data', (bytes) => {
      received += bytes.toString('latin1')
      client.write(bytes)
    })
    service.on('end', () => client.end())
    for (const [one, other] of [
      [client, service],
      [service, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        // The client still has to read the last bytes.
        if (one === client) other.destroy()
        else other.end()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    firstAt: () => firstAt,
    received: () => received,
    close: async () => {
      for (const socket of [...open, ...started]) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
