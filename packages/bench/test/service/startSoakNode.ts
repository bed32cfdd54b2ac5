import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** What a node does with calls: it responds, responds with status 500 or with text that is no JSON, never responds, closes the connection, or its port is closed. */
export type NodeState = 'works' | 'errors' | 'garbage' | 'hangs' | 'drops' | 'closed'

/** A node that counts the calls of each account. */
export interface SoakNode {
  readonly url: string
  readonly set: (state: NodeState) => Promise<void>
  /** How many queries of the gateway's own it has received. */
  readonly queries: () => number
  readonly stop: () => Promise<void>
}

/** Which calls of which account any node has received. A call that is sent to two nodes counts once. */
export interface Received {
  readonly add: (account: number, call: number) => void
  /** How many calls of an account any node has received. */
  readonly count: (account: number) => number
}

/** Creates an empty {@link Received}. */
export const createReceived = (): Received => {
  const calls = new Map<number, Set<number>>()
  return {
    add: (account, call) => {
      const known = calls.get(account) ?? new Set()
      calls.set(account, known.add(call))
    },
    count: (account) => calls.get(account)?.size ?? 0,
  }
}

/** The address that a call asks about: it names the account and the call, so that no two calls are alike. */
export const toAddress = (account: number, call: number): string =>
  `0x${account.toString(16).padStart(4, '0')}${call.toString(16).padStart(36, '0')}`

/** The response to a call: a balance that no other call gets. */
export const toBalance = (call: number): string => `0x${call.toString(16)}`

interface NodeCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

const chainId = 31_337
const startedAt = Date.now()

const respond = ({ id, method, params }: NodeCall): string => {
  const head = `0x${(1_000 + Math.floor((Date.now() - startedAt) / 2_000)).toString(16)}`
  const results: Readonly<Record<string, () => unknown>> = {
    eth_chainId: () => `0x${chainId.toString(16)}`,
    eth_blockNumber: () => head,
    eth_syncing: () => false,
    eth_getBlockByNumber: () => ({ number: head }),
    eth_getBalance: () => toBalance(Number(`0x${String(params[0]).slice(6)}`)),
  }
  return JSON.stringify({ jsonrpc: '2.0', id, result: results[method]?.() ?? null })
}

/** The chain id of the nodes. */
export const soakChainId = chainId

/** Starts a node. @param received - It adds the calls of callers, also those that it does not respond to. */
export const startSoakNode = async (received: Received): Promise<SoakNode> => {
  let state: NodeState = 'works'
  let queries = 0
  const sockets = new Set<Socket>()
  const held = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const parsed = JSON.parse(Buffer.concat(chunks).toString()) as NodeCall | readonly NodeCall[]
      const calls = Array.isArray(parsed) ? (parsed as readonly NodeCall[]) : [parsed as NodeCall]
      if (request.headers['user-agent'] === 'keyrail-probe') queries += 1
      else
        for (const { method, params } of calls) {
          const address = String(params[0])
          if (method === 'eth_getBalance') received.add(Number(address.slice(0, 6)), Number(`0x${address.slice(6)}`))
        }
      if (state === 'drops') request.socket.destroy()
      else if (state === 'hangs') held.add(response.once('close', () => held.delete(response)))
      else if (state === 'errors') response.writeHead(500).end('internal error')
      else if (state === 'garbage') response.end('<html>')
      else {
        const texts = calls.map(respond)
        response.end(Array.isArray(parsed) ? `[${texts.join(',')}]` : texts[0])
      }
    })
  })
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {})
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    queries: () => queries,
    set: async (next) => {
      state = next
      for (const response of held) response.destroy()
      if (state === 'closed') await close()
      else if (!server.listening) await listen(port)
    },
    stop: close,
  }
}
