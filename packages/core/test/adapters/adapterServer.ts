import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { adapters } from '@keyrail/vectors'
import type { AdapterResponse, AdapterBatchEntry } from '@keyrail/vectors'
import { startFaultServer } from '../faultServer.ts'
import type { Seen } from '../faultServer.ts'
import { getCalls } from '../faults/getCalls.ts'
import type { RequestedCall } from '../faults/getCalls.ts'

const { node } = adapters

/** One request that arrived. */
export interface Arrived {
  readonly methods: readonly string[]
  readonly isBatch: boolean
  /** By `performance.now()`, in milliseconds. */
  readonly at: number
  readonly connection: number
}

/** The node of `adapters.json`, behind a server that responds as a case says. */
export interface AdapterServer {
  readonly origin: string
  readonly arrived: readonly Arrived[]
  /** How many requests came to the server that redirects lead to. */
  readonly countRedirected: () => number
  /** Resolves with the first request. */
  readonly first: Promise<void>
  readonly close: () => Promise<void>
}

const FOREIGN = 1_000_000_007

/** Starts it on a free port. */
export async function startAdapterServer(responses: readonly AdapterResponse[], key: string): Promise<AdapterServer> {
  const arrived: Arrived[] = []
  const used = new Map<AdapterResponse, number>()
  const taken = new Set<unknown>()
  const other = await startFaultServer()
  let resolveFirst = (): void => {}
  const first = new Promise<void>((resolve) => (resolveFirst = resolve))

  const result = ({ method, params }: Partial<RequestedCall>): unknown => {
    // Some libraries omit empty params.
    const known = taken.has(params?.[0])
    const { transaction } = node
    if (method === 'eth_blockNumber') return node.blockNumber
    if (method === 'eth_chainId') return node.chainId
    if (method === 'eth_call') return node.contract.response
    if (method === 'eth_getBalance') return findAccount(params)?.balance ?? '0x0'
    if (method === 'eth_sendRawTransaction') return transaction.hash
    if (method === 'eth_getTransactionByHash') return known ? { hash: transaction.hash, from: transaction.from } : null
    if (method === 'eth_getTransactionReceipt') return known ? receipt : null
    return '0x1'
  }
  const fits = (reply: AdapterResponse, { json }: Seen, calls: readonly RequestedCall[]): boolean =>
    (reply.for === undefined || calls.some(({ method }) => method === reply.for)) &&
    (reply.account === undefined ||
      (!Array.isArray(json) && findAccount(calls[0]?.params) === node.accounts[reply.account])) &&
    (!(reply.batch ?? reply.over) || Array.isArray(json)) &&
    calls.length > (reply.over ?? 0) &&
    (used.get(reply) ?? 0) < (reply.times ?? Infinity)

  const server = await startFaultServer((seen, response, socket) => {
    const calls = getCalls(seen)
    const { connection } = seen
    const reused = arrived.some((before) => before.connection === connection)
    arrived.push({
      methods: calls.map(({ method }) => method),
      isBatch: Array.isArray(seen.json),
      at: performance.now(),
      connection,
    })
    resolveFirst()
    const scripted = responses.find((one) => fits(one, seen, calls)) ?? {}
    used.set(scripted, (used.get(scripted) ?? 0) + 1)
    const lost = (scripted.fault !== undefined || scripted.body !== undefined) && !scripted.accepted
    if (!lost && calls.some(({ method }) => method === 'eth_sendRawTransaction')) taken.add(node.transaction.hash)
    const item = (call: RequestedCall): object => ({ jsonrpc: '2.0', id: call.id, result: result(call) })
    const given = ({ of, id, result: value, error }: AdapterBatchEntry): object => {
      const call = calls[of ?? -1]
      const own = id === 'text' ? String(call?.id) : id === 'foreign' ? FOREIGN : id === null ? null : call?.id
      return {
        jsonrpc: '2.0',
        id: own,
        ...(error ? { error } : { result: value ?? (call ? result(call) : undefined) }),
      }
    }
    const fill = (text: string): string =>
      text
        .replaceAll('"$ID"', () => JSON.stringify(calls[0]?.id ?? null))
        .replaceAll('$ID', () => String(calls[0]?.id))
        .replaceAll('"$FOREIGN"', String(FOREIGN))
        .replaceAll('$KEY', key)
        .replaceAll('$PATH', seen.path)
        .replaceAll('$OTHER', other.url)
        // A date has whole seconds: the next but one is at least one second away.
        .replaceAll('$IN2S', new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 1_000).toUTCString())
    const createResponse = (): unknown => (Array.isArray(seen.json) ? calls.map(item) : calls[0] && item(calls[0]))
    const body = scripted.body ?? scripted.items?.map(given) ?? createResponse()
    const headers = Object.entries(scripted.headers ?? { 'content-type': 'application/json' })
    const reply: Reply = {
      status: scripted.status ?? 200,
      headers: Object.fromEntries(headers.map(([name, value]) => [name, fill(value)])),
      text: fill(typeof body === 'string' ? body : JSON.stringify(body)),
    }
    const { fault = 'none', delayMs = 0 } = scripted
    const go = (): void =>
      faults[fault === 'resetReused' ? (reused ? 'reset' : 'none') : fault](reply, response, socket)
    if (delayMs) setTimeout(go, delayMs)
    else go()
  })
  return {
    origin: server.url,
    arrived,
    countRedirected: () => other.seen.length,
    first,
    close: async () => void (await Promise.all([server.close(), other.close()])),
  }
}

interface Reply {
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
}

const faults: Readonly<
  Record<
    'none' | 'reset' | 'hang' | 'stall' | 'drip' | 'cut',
    (reply: Reply, response: ServerResponse, socket: Socket) => void
  >
> = {
  none: ({ status, headers, text }, response) => void response.writeHead(status, headers).end(text),
  reset: (_, __, socket) => void socket.destroy(),
  hang: () => {},
  stall: ({ status, headers, text }, response) =>
    response.writeHead(status, { ...headers, 'content-length': String(text.length) }).flushHeaders(),
  drip: ({ status, headers }, response, socket) => {
    response.writeHead(status, headers)
    const timer = setInterval(() => response.write(' '), 50)
    socket.on('close', () => clearInterval(timer))
  },
  cut: ({ status, headers, text }, response, socket) => {
    response.writeHead(status, { ...headers, 'content-length': String(text.length) })
    response.write(text.slice(0, -5), () => socket.destroy())
  },
}

const findAccount = (params: readonly unknown[] | undefined): (typeof node.accounts)[number] | undefined =>
  node.accounts.find(({ address }) => address === String(params?.[0]).toLowerCase())

const receipt = {
  transactionHash: node.transaction.hash,
  transactionIndex: '0x0',
  blockHash: `0x${'0'.repeat(63)}1`,
  blockNumber: node.blockNumber,
  from: node.transaction.from,
  to: node.contract.address,
  cumulativeGasUsed: '0x5208',
  gasUsed: '0x5208',
  effectiveGasPrice: '0x1',
  contractAddress: null,
  logs: [],
  logsBloom: `0x${'0'.repeat(512)}`,
  status: '0x1',
  type: '0x2',
}
