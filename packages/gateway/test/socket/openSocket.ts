import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { ClientOptions } from 'ws'

/** A response or a notification. */
export interface SocketMessage {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: Readonly<Record<string, unknown>>
  }
  readonly method?: string
  readonly params?: unknown
}

/** A WebSocket of a test. */
export interface OpenSocket {
  readonly ws: WebSocket
  readonly send: (body: string | Buffer) => void
  /** The next message, parsed. */
  readonly next: () => Promise<SocketMessage | readonly SocketMessage[]>
  /** Makes one call. No other message may be due. */
  readonly call: (method: string, params?: unknown, id?: unknown) => Promise<SocketMessage>
  /** Messages that `next` has not returned. */
  readonly unread: () => readonly string[]
  /** The close code and reason, once it is closed. */
  readonly closed: Promise<{ code: number; reason: string }>
}

/** The response to a request for a WebSocket that was rejected. */
export interface UpgradeRejection {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  readonly reason: unknown
}

const toSocketUrl = (url: string): string => url.replace(/^http/, 'ws')

/** Opens a WebSocket, which closes when the test finishes. @param url - May start with `http`. */
export const openSocket = async (
  url: string,
  options: ClientOptions = {},
  protocols: string[] = [],
): Promise<OpenSocket> => {
  const ws = new WebSocket(toSocketUrl(url), protocols, options)
  onTestFinished(() => ws.terminate())
  const unread: string[] = []
  let wake = (): void => {}
  ws.on('message', (data: Buffer) => {
    unread.push(data.toString())
    wake()
  })
  let isClosed = false
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on('close', (code, reason) => {
      isClosed = true
      wake()
      resolve({ code, reason: reason.toString() })
    })
  })
  await once(ws, 'open')
  ws.on('error', () => {})
  const next: OpenSocket['next'] = async () => {
    while (unread.length === 0) {
      if (isClosed) throw new Error('the socket closed before a message')
      await new Promise<void>((resolve) => (wake = resolve))
    }
    return JSON.parse(unread.shift() ?? '') as SocketMessage
  }
  return {
    ws,
    next,
    send: (body) => ws.send(body),
    call: async (method, params = [], id = 1) => {
      ws.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      return (await next()) as SocketMessage
    },
    unread: () => unread,
    closed,
  }
}

/** Requests a WebSocket that is rejected. */
export const rejectSocket = async (
  url: string,
  options: ClientOptions = {},
  protocols: string[] = [],
): Promise<UpgradeRejection> => {
  const ws = new WebSocket(toSocketUrl(url), protocols, options)
  ws.on('error', () => {})
  const [, response] = (await Promise.race([
    once(ws, 'unexpected-response'),
    once(ws, 'open').then(() => {
      ws.terminate()
      throw new Error('the WebSocket was accepted')
    }),
  ])) as [unknown, IncomingMessage]
  let text = ''
  for await (const chunk of response) text += String(chunk)
  const { error } = JSON.parse(text) as SocketMessage
  return { status: response.statusCode ?? 0, headers: response.headers, text, reason: error?.data?.['reason'] }
}
