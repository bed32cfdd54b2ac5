import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isKeyrailError, KeyrailError } from '../src/index.ts'
import type { FailureKind, Hex, Layer, RpcLog as WireLog, Transport } from '../src/index.ts'
import type { RpcBlockWithHashes } from '../src/schema/index.ts'
import { compose } from './layers.ts'
import { wireBlock, wireLog } from './wire.ts'

/** A block of the simulated chain. */
export interface SimulatedBlock {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: number
  readonly logs: readonly WireLog[]
}

/** An error response of the simulated node. */
export interface ErrorResponse {
  readonly code: number
  readonly message: string
  readonly data?: unknown
  readonly status?: number
  readonly retryAfterMs?: number
}

/** An error that the simulated node responds with. */
export class NodeError extends Error {
  readonly kind: FailureKind
  readonly response: ErrorResponse

  /**
   * @param kind - The kind that an in-process client reports. Over HTTP, the client classifies the response.
   * @param response - The response over HTTP.
   */
  constructor(kind: FailureKind, response: ErrorResponse) {
    super(response.message)
    this.kind = kind
    this.response = response
  }
}

/** A chain that a test mines and reorganizes, and the node that serves it. */
export interface ReorgChain {
  /** The canonical blocks, from block 0. */
  readonly blocks: readonly SimulatedBlock[]
  readonly head: () => SimulatedBlock
  /** Adds blocks: a number of blocks with a few logs each, or one block per entry with that many logs. */
  readonly mine: (blocks?: number | readonly number[]) => void
  /** Replaces the newest `depth` blocks with new ones: `blocks` of them, or `depth`. */
  readonly reorg: (depth: number, blocks?: number) => void
  /** The canonical logs of a range. */
  readonly logs: (from?: number, to?: number) => readonly WireLog[]
  /** Every call received, in order. */
  readonly requests: { method: string; params: readonly unknown[] }[]
  /** Called before each response: a test can mine, reorganize, reject (by throwing) or wait here. */
  before: (method: string, params: readonly unknown[]) => void | Promise<void>
  /** Called when the response is ready, before it is sent. */
  after: (method: string) => void
  /** Responds to a call. */
  readonly respond: (method: string, params: readonly unknown[]) => Promise<unknown>
}

/** The one contract and the two topics of simulated logs. */
export const contract: Hex = `0x${'c0'.repeat(20)}`
export const getTopic = (index: number): Hex => `0x${'e0'.repeat(31)}0${index % 2}`

const hex = (value: number): Hex => `0x${value.toString(16)}`

/** Creates a chain with a genesis block. Timestamps are `blockSeconds` apart. */
export function createReorgChain(blockSeconds = 12): ReorgChain {
  let made = 0
  const blocks: SimulatedBlock[] = []
  const byHash = new Map<Hex, SimulatedBlock>()

  const add = (logCount: number): void => {
    const parent = blocks.at(-1)
    const number = blocks.length
    // Unique for each block ever mined, so that forks can be distinguished.
    const hash: Hex = `0xb10c${(++made).toString(16).padStart(60, '0')}`
    const block = {
      number,
      hash,
      parentHash: parent?.hash ?? (`0x${'00'.repeat(32)}` as Hex),
      timestamp: (parent?.timestamp ?? 1_700_000_000) + blockSeconds,
      logs: Array.from({ length: logCount }, (_, index): WireLog => ({
        ...wireLog,
        address: contract,
        topics: [getTopic(index)],
        blockHash: hash,
        blockNumber: hex(number),
        transactionHash: `0x7a${made.toString(16).padStart(30, '0')}${index.toString(16).padStart(32, '0')}`,
        transactionIndex: hex(index),
        logIndex: hex(index),
      })),
    }
    blocks.push(block)
    byHash.set(hash, block)
  }
  add(0)

  const toWire = (block: SimulatedBlock | undefined): RpcBlockWithHashes | null =>
    block
      ? {
          ...wireBlock,
          number: hex(block.number),
          hash: block.hash,
          transactions: [],
          parentHash: block.parentHash,
          timestamp: hex(Math.floor(block.timestamp)),
        }
      : null
  const toNumber = (block: unknown): number =>
    block === 'latest' || block === undefined
      ? blocks.length - 1
      : block === 'safe' || block === 'finalized'
        ? Math.max(blocks.length - 33, 0)
        : block === 'earliest'
          ? 0
          : Number(block)
  const matching = (logs: readonly WireLog[], { address, topics }: { address?: Hex; topics?: Hex[] }): WireLog[] =>
    logs.filter((log) => (!address || log.address === address) && (!topics?.[0] || log.topics[0] === topics[0]))

  const chain: ReorgChain = {
    blocks,
    head: () => blocks.at(-1) as SimulatedBlock,
    mine: (counts = 1) => {
      if (typeof counts === 'number') for (let i = 0; i < counts; i++) add((made * 7) % 4)
      else for (const count of counts) add(count)
    },
    reorg: (depth, count = depth) => {
      blocks.length = Math.max(blocks.length - depth, 1)
      chain.mine(count)
    },
    logs: (from = 0, to = blocks.length - 1) => blocks.slice(from, to + 1).flatMap(({ logs }) => logs),
    requests: [],
    before: () => {},
    after: () => {},
    respond: async (method, params) => {
      chain.requests.push({ method, params })
      await chain.before(method, params)
      const [first] = params
      const result = (() => {
        switch (method) {
          case 'eth_blockNumber':
            return hex(blocks.length - 1)
          case 'eth_getBlockByNumber':
            return toWire(blocks[toNumber(first)])
          case 'eth_getBlockByHash':
            return toWire(byHash.get(first as Hex))
          case 'eth_getLogs': {
            const filter = first as { blockHash?: Hex; fromBlock?: Hex; toBlock?: Hex; address?: Hex; topics?: Hex[] }
            if (filter.blockHash === undefined)
              return matching(chain.logs(toNumber(filter.fromBlock), toNumber(filter.toBlock)), filter)
            const block = byHash.get(filter.blockHash)
            if (!block) throw new NodeError('lagging', { code: -32000, message: 'unknown block' })
            return matching(block.logs, filter)
          }
          default:
            throw new NodeError('methodUnavailable', { code: -32601, message: `the method ${method} does not exist` })
        }
      })()
      chain.after(method)
      return result
    },
  }
  return chain
}

const passing: readonly FailureKind[] = ['throttled', 'unavailable', 'network', 'timeout', 'lagging']

/** A transport of the chain in this process: real except for HTTP. Layers wrap it, the innermost first. */
export function createChainTransport(chain: ReorgChain, ...layers: readonly Layer[]): Transport {
  const toFailure = (error: unknown, method: string): unknown => {
    if (!(error instanceof NodeError)) return error
    const { kind, response } = error
    return new KeyrailError(`${method} failed: ${kind}: ${response.message}`, {
      kind,
      source: 'node',
      retryable: passing.includes(kind),
      method,
      retryAfterMs: response.retryAfterMs,
      rpcError: { code: response.code, message: response.message, data: response.data },
    })
  }
  return compose(
    {
      redactedUrl: 'simulated',
      close: () => {},
      send: (call, complete) => {
        let over = false
        const end = (ok: boolean, value: unknown): void => {
          if (over) return
          over = true
          complete(ok, value)
        }
        call.cancel = (reason) => end(false, reason)
        chain.respond(call.method, JSON.parse(call.params) as unknown[]).then(
          (value) => end(true, JSON.parse(JSON.stringify(value))),
          (error: unknown) => end(false, isKeyrailError(error) ? error : toFailure(error, call.method)),
        )
      },
    },
    ...layers,
  )
}

/** The chain behind a real HTTP server. */
export interface ChainServer {
  readonly url: string
  /** How many requests have no response yet. */
  readonly open: () => number
  readonly close: () => Promise<void>
}

/** Serves the chain on a free port. */
export async function serveChain(chain: ReorgChain): Promise<ChainServer> {
  let open = 0
  const server = createServer((request, response) => {
    let body = ''
    open++
    response.on('close', () => open--)
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown[] }
      const send = (status: number, body: object, retryAfterMs?: number): void => {
        if (retryAfterMs !== undefined) response.setHeader('retry-after', String(retryAfterMs / 1_000))
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
      }
      chain.respond(method, params).then(
        (result) => send(200, { result }),
        (error: unknown) => {
          const { status = 200, retryAfterMs, ...rpc } = (error as NodeError).response
          send(status, { error: rpc }, retryAfterMs)
        },
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => open,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** The position of a log, on the wire or decoded, for comparisons. */
export const formatLogPosition = (log: { blockHash: Hex; blockNumber: Hex | bigint; logIndex: Hex | number }): string =>
  `${Number(log.blockNumber)}/${log.blockHash.slice(-6)}/${Number(log.logIndex)}`
