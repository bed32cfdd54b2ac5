import { connect as connectPlain } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

// Many WebSockets that are as cheap as possible, in a process of its own, for measureSockets.ts: the URL, and how many. Each subscribes to `newHeads`.
// It reports when all have subscribed, and when all have received a block, by the system's monotonic clock in milliseconds.

const [, , given = '', count = '0'] = process.argv
const url = new URL(given)
const total = Number(count)
/** How many are being opened at the same time. */
const opening = 50

const readClock = (): number => Number(process.hrtime.bigint()) / 1e6
const report = (): void => void process.send?.(readClock())

const upgrade = [
  `GET ${url.pathname} HTTP/1.1`,
  `Host: ${url.host}`,
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n')
const subscribe = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
// The mask of zeros changes nothing. RFC 6455 section 5.3.
const subscribeFrame = Buffer.concat([Buffer.from([0x81, 0x80 | subscribe.length, 0, 0, 0, 0]), subscribe])

let frames = 0
const onFrame = (): void => {
  frames += 1
  if (frames % total === 0) report()
}

/** Counts the frames in what a connection receives. A frame's header must be in one chunk. */
const createCounter = (): ((chunk: Buffer) => void) => {
  let left = 0
  return (chunk) => {
    let at = left
    while (at < chunk.length) {
      const short = (chunk[at + 1] ?? 0) & 0x7f
      at += short < 126 ? 2 + short : 4 + chunk.readUInt16BE(at + 2)
      if (at <= chunk.length) onFrame()
    }
    if (left > 0 && left <= chunk.length) onFrame()
    left = at - chunk.length
  }
}

const open = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const options = { host: url.hostname, port: Number(url.port) }
    const socket: Socket =
      url.protocol === 'https:' ? connectTls({ ...options, rejectUnauthorized: false }) : connectPlain(options)
    socket.setNoDelay(true)
    socket.on('error', reject)
    socket.on('close', () => process.exit(1))
    socket.write(upgrade)
    const count = createCounter()
    const onFirst = (chunk: Buffer): void => {
      const end = chunk.indexOf('\r\n\r\n')
      if (end === -1 || !chunk.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'))) {
        reject(new Error(`no WebSocket: ${chunk.toString().slice(0, 200)}`))
        return
      }
      socket.off('data', onFirst)
      socket.on('data', count)
      socket.write(subscribeFrame)
      resolve()
    }
    socket.on('data', onFirst)
  })

process.on('disconnect', () => process.exit())
for (let opened = 0; opened < total; opened += opening)
  await Promise.all(Array.from({ length: Math.min(opening, total - opened) }, open))
