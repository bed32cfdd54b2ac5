import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A call that a scripted node got. */
export interface NodeCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
  /** Over HTTP or over a WebSocket. */
  readonly via: 'http' | 'ws'
}

/** A node on one port for HTTP and WebSocket. */
export interface ScriptedNode {
  readonly url: string
  readonly wsUrl: string
  /** Returns the result, or the text of the whole response as `{ text }`, or `undefined` for no response, or `byDefault`. */
  respond: (call: NodeCall) => unknown
  readonly calls: NodeCall[]
  /** The requests for an upgrade. */
  readonly handshakes: IncomingMessage[]
  /** How many WebSockets are open. */
  readonly open: () => number
  /** Sends a text message on all WebSockets, or a frame as it is. */
  readonly send: (message: string | Buffer) => void
  /** Sends a notification to all subscriptions of a topic. */
  readonly notify: (topic: string, result: unknown) => void
  /** Cuts all WebSockets. */
  readonly cut: () => void
  readonly stop: () => Promise<void>
}

/** What a working node responds. */
export const byDefault = Symbol('byDefault')

const defaults: Readonly<Record<string, unknown>> = {
  eth_chainId: '0x7a69',
  eth_blockNumber: '0x1',
  eth_getBalance: '0x0',
  eth_syncing: false,
  eth_unsubscribe: true,
  eth_newPendingTransactionFilter: '0xf1',
  eth_getFilterChanges: [],
  eth_uninstallFilter: true,
}

/** Starts a node of chain 31337 that responds as a test says. */
export const startScriptedNode = async (): Promise<ScriptedNode> => {
  const sockets = new Set<Socket>()
  const topics = new Map<string, string>()
  let lastSubscription = 0

  const subscribe = (topic: string): string => {
    lastSubscription += 1
    const subscription = `0x${lastSubscription}`
    topics.set(subscription, topic)
    return subscription
  }
  const getResponse = (given: Omit<NodeCall, 'via'>, via: NodeCall['via']): string | undefined => {
    const call = { ...given, via }
    node.calls.push(call)
    let result = node.respond(call)
    if (result === byDefault)
      result = call.method === 'eth_subscribe' ? subscribe(String(call.params[0])) : defaults[call.method]
    if (result === undefined) return undefined
    const { text = JSON.stringify({ jsonrpc: '2.0', id: call.id, result }) } = Object(result) as { text?: string }
    return text
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = getResponse(JSON.parse(Buffer.concat(chunks).toString()) as NodeCall, 'http')
      if (text !== undefined) response.end(text)
    })
  })
  server.on('upgrade', (request, socket: Socket) => {
    node.handshakes.push(request)
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const accept = createHash('sha1').update(key).digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('end', () => socket.end())
    socket.on('close', () => {
      sockets.delete(socket)
      // Subscriptions end with their connection.
      if (sockets.size === 0) topics.clear()
    })
    let buffered: Buffer = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk])
      for (let frame = readFrame(buffered); frame !== undefined; frame = readFrame(buffered)) {
        buffered = buffered.subarray(frame.length)
        if (frame.opcode !== 1) continue
        const text = getResponse(JSON.parse(frame.text) as NodeCall, 'ws')
        if (text !== undefined) socket.write(textFrame(text))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const send = (message: string | Buffer): void => {
    for (const socket of sockets) socket.write(typeof message === 'string' ? textFrame(message) : message)
  }
  const node: ScriptedNode = {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    respond: () => byDefault,
    calls: [],
    handshakes: [],
    open: () => sockets.size,
    send,
    notify: (topic, result) => {
      for (const [subscription, subscribed] of topics)
        if (subscribed === topic)
          send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription, result } }))
    },
    cut: () => {
      for (const socket of sockets) socket.destroy()
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return node
}

/** An unmasked text frame. RFC 6455 section 5.2. */
const textFrame = (text: string): Buffer => {
  const body = Buffer.from(text)
  if (body.length < 126) return Buffer.concat([Buffer.from([0x81, body.length]), body])
  const header = Buffer.alloc(10)
  header[0] = 0x81
  header[1] = 127
  header.writeBigUInt64BE(BigInt(body.length), 2)
  return Buffer.concat([header, body])
}

/** Reads a masked frame of less than 64 KiB; `undefined` if it is not complete. */
const readFrame = (bytes: Buffer): { opcode: number; text: string; length: number } | undefined => {
  if (bytes.length < 6) return undefined
  const short = (bytes[1] ?? 0) & 0x7f
  const at = short === 126 ? 8 : 6
  const size = short === 126 ? bytes.readUInt16BE(2) : short
  if (bytes.length < at + size) return undefined
  const mask = bytes.subarray(at - 4, at)
  const body = Buffer.from(bytes.subarray(at, at + size).map((byte, index) => byte ^ (mask[index % 4] ?? 0)))
  return { opcode: (bytes[0] ?? 0) & 0x0f, text: body.toString(), length: at + size }
}
