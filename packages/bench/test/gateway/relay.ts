import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A request as it came from a client. */
export interface Passing {
  readonly method: string
  /** The target: path and query. */
  readonly path: string
  /** Names as they were written, and values. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

/** What is sent on in place of a request. @returns Its bytes; `undefined` sends it as it came. */
export type Meddle = (passing: Passing) => string | undefined

/** What stands between a client and the service, as proxies do: it counts what passes, and may spoil it. */
export interface Relay {
  readonly url: string
  readonly passed: readonly Passing[]
  /** When the first of them was passed on, by `performance.now`. */
  readonly firstAt: () => number
  /** All that the service sent back. */
  readonly answered: () => string
  readonly close: () => Promise<void>
}

/** The bytes of a request. */
export const toBytes = ({ method, path, headers, body }: Passing): string =>
  `${method} ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`

/** The same request with another body, and the length that goes with it. */
export const withBody = (passing: Passing, body: string): Passing => ({
  ...passing,
  body,
  headers: [
    ...passing.headers.filter(([name]) => !/^(content-length|transfer-encoding)$/i.test(name)),
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

/** Takes the first request off what has come. Text of one character a byte. */
const takeRequest = (came: string): { readonly passing: Passing; readonly length: number } | undefined => {
  const headEnd = came.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [line = '', ...lines] = came.slice(0, headEnd).split('\r\n')
  const [method = '', path = ''] = line.split(' ')
  const headers = lines.map((one): readonly [string, string] => [
    one.slice(0, one.indexOf(':')),
    one.slice(one.indexOf(':') + 1).trim(),
  ])
  const getHeader = (wanted: string): string | undefined => headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
  const rest = came.slice(headEnd + 4)
  const chunked = getHeader('transfer-encoding') === 'chunked'
  const size = Number(getHeader('content-length') ?? 0)
  const found = chunked
    ? readChunks(rest)
    : rest.length < size
      ? undefined
      : { body: rest.slice(0, size), length: size }
  return found && { passing: { method, path, headers, body: found.body }, length: headEnd + 4 + found.length }
}

/**
 * Starts a relay in front of a port of this machine.
 * @param options.meddle - What is done to each request on its way. @default nothing
 * @param options.started - Connections on which something was sent already: they are used before others are opened.
 */
export const startRelay = async (
  port: number,
  { meddle = () => undefined, started = [] }: { meddle?: Meddle; started?: Socket[] } = {},
): Promise<Relay> => {
  const passed: Passing[] = []
  let answered = ''
  let firstAt = Infinity
  const open = new Set<Socket>()
  const server = createServer({ noDelay: true }, (client) => {
    const service = started.shift() ?? connect(port, '127.0.0.1')
    let came = ''
    open.add(client).add(service)
    client.setEncoding('latin1').on('data', (text: string) => {
      came += text
      for (let next = takeRequest(came); next !== undefined; next = takeRequest(came)) {
        passed.push(next.passing)
        firstAt = Math.min(firstAt, performance.now())
        const as = meddle(next.passing)
        service.write(as ?? came.slice(0, next.length), 'latin1')
        came = came.slice(next.length)
      }
    })
    service.on('data', (bytes) => {
      answered += bytes.toString('latin1')
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
        // What was written last has still to be read.
        if (one === client) other.destroy()
        else other.end()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    firstAt: () => firstAt,
    answered: () => answered,
    close: async () => {
      for (const socket of [...open, ...started]) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
