import { connect } from 'node:net'

/** A response as it was sent. */
export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A TCP connection that sends bytes and reads HTTP responses. */
export interface RawConnection {
  readonly send: (bytes: string | Buffer) => void
  /** The next response. Rejects if the connection ends first. */
  readonly next: () => Promise<RawResponse>
  /** Resolves when the server closes the connection. */
  readonly ended: Promise<void>
  readonly hasEnded: () => boolean
  readonly destroy: () => void
  /** Resets it, which the other side notices at once. */
  readonly reset: () => void
}

/** Opens a connection to a port of this machine. */
export const openRaw = async (port: number): Promise<RawConnection> => {
  const socket = connect({ port, host: '127.0.0.1' })
  let buffered = Buffer.alloc(0)
  let over = false
  const responses: RawResponse[] = []
  const waiting: { resolve: (response: RawResponse) => void; reject: (error: Error) => void }[] = []
  const take = (): RawResponse | undefined => {
    const headEnd = buffered.indexOf('\r\n\r\n')
    if (headEnd === -1) return undefined
    const [first = '', ...lines] = buffered.toString('latin1', 0, headEnd).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const end = headEnd + 4 + Number(headers['content-length'] ?? 0)
    if (buffered.length < end) return undefined
    const body = buffered.toString('utf8', headEnd + 4, end)
    buffered = buffered.subarray(end)
    return { status: Number(first.split(' ')[1]), headers, body }
  }
  socket.on('data', (chunk) => {
    buffered = Buffer.concat([buffered, chunk])
    for (let response = take(); response !== undefined; response = take()) {
      const first = waiting.shift()
      if (first === undefined) responses.push(response)
      else first.resolve(response)
    }
  })
  socket.on('error', () => {})
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      over = true
      for (const { reject } of waiting.splice(0)) reject(new Error('the connection ended before a response'))
      resolve()
    }
    socket.on('end', end)
    socket.on('close', end)
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve())
    socket.once('error', reject)
  })
  return {
    send: (bytes) => void socket.write(bytes),
    next: () =>
      new Promise((resolve, reject) => {
        const response = responses.shift()
        if (response !== undefined) resolve(response)
        else if (over) reject(new Error('the connection ended before a response'))
        else waiting.push({ resolve, reject })
      }),
    ended,
    hasEnded: () => over,
    destroy: () => socket.destroy(),
    reset: () => socket.resetAndDestroy(),
  }
}

/** The bytes of a POST. */
export const postBytes = (path: string, body: string | Buffer, headers: Record<string, string> = {}): Buffer => {
  const all = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return Buffer.concat([
    Buffer.from(`POST ${path} HTTP/1.1\r\nHost: x\r\n${lines.join('\r\n')}\r\n\r\n`),
    Buffer.from(body),
  ])
}
