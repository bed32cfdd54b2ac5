import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isKeyrailError, KeyrailError } from '@keyrail/core'
import { compose } from '@keyrail/core/test/layers.ts'
import type { FailureKind, Hex, Layer, RpcLog as WireLog } from '@keyrail/core'
import type { RpcBlockWithHashes } from '@keyrail/core/schema'
import { createClient } from '../src/index.ts'
import type { Client } from '../src/index.ts'
import { wireBlock, wireLog } from './wire.ts'

/** A block of the simulated chain. */
export interface SimulatedBlock {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: number
  readonly logs: readonly WireLog[]
}

/** What the simulated node says over HTTP where it refuses. */
export interface Refusal {
  readonly code: number
  readonly message: string
  readonly data?: unknown
  readonly status?: number
  readonly retryAfterMs?: number
}

/** An error that the simulated node answers with. */
export class NodeError extends Error {
  readonly kind: FailureKind
  readonly refusal: Refusal

  /**
   * @param kind - What a client in this process makes of it; over HTTP, the client finds that out by itself.
   * @param refusal - What is sent over HTTP.
   */
  constructor(kind: FailureKind, refusal: Refusal) {
    super(refusal.message)
    this.kind = kind
    this.refusal = refusal
  }
}

/** A chain that is mined and reorganized by a test, and the node that tells of it. */
export interface ReorgChain {
  /** What is canonical now, from block 0. */
  readonly blocks: readonly SimulatedBlock[]
  readonly head: () => SimulatedBlock
  /** Adds blocks. Each holds so many logs as the numbers say, one block for each; or a few, in turns. */
  readonly mine: (blocks?: number | readonly number[]) => void
  /** Takes blocks off the end and puts others there: as many as were taken, unless told. */
  readonly reorg: (depth: number, blocks?: number) => void
  /** The canonical logs of a range. */
  readonly logs: (from?: number, to?: number) => readonly WireLog[]
  /** Every call that was made, in order. */
  readonly asked: { method: string; params: readonly unknown[] }[]
  /** Called before each answer: the place to mine, reorganize, refuse (by throwing), or wait. */
  before: (method: string, params: readonly unknown[]) => void | Promise<void>
  /** Called once the answer is made, before it is sent. */
  after: (method: string) => void
  /** Answers a call. */
  readonly answer: (method: string, params: readonly unknown[]) => Promise<unknown>
}

/** The one contract and the two topics of simulated logs. */
export const contract: Hex = `0x${'c0'.repeat(20)}`
export const topicOf = (index: number): Hex => `0x${'e0'.repeat(31)}0${index % 2}`

const hex = (value: number): Hex => `0x${value.toString(16)}`

/** Makes one with a genesis block. `blockSeconds` stand between the timestamps. */
export function createReorgChain(blockSeconds = 12): ReorgChain {
  let made = 0
  const blocks: SimulatedBlock[] = []
  const byHash = new Map<Hex, SimulatedBlock>()

  const add = (logCount: number): void => {
    const parent = blocks.at(-1)
    const number = blocks.length
    // Unique for each block ever made, so that no fork can be taken for another.
    const hash: Hex = `0xb10c${(++made).toString(16).padStart(60, '0')}`
    const block = {
      number,
      hash,
      parentHash: parent?.hash ?? (`0x${'00'.repeat(32)}` as Hex),
      timestamp: (parent?.timestamp ?? 1_700_000_000) + blockSeconds,
      logs: Array.from({ length: logCount }, (_, index): WireLog => ({
        ...wireLog,
        address: contract,
        topics: [topicOf(index)],
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

  const wireOf = (block: SimulatedBlock | undefined): RpcBlockWithHashes | null =>
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
  const numberOf = (block: unknown): number =>
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
    asked: [],
    before: () => {},
    after: () => {},
    answer: async (method, params) => {
      chain.asked.push({ method, params })
      await chain.before(method, params)
      const [first] = params
      const result = (() => {
        switch (method) {
          case 'eth_blockNumber':
            return hex(blocks.length - 1)
          case 'eth_getBlockByNumber':
            return wireOf(blocks[numberOf(first)])
          case 'eth_getBlockByHash':
            return wireOf(byHash.get(first as Hex))
          case 'eth_getLogs': {
            const filter = first as { blockHash?: Hex; fromBlock?: Hex; toBlock?: Hex; address?: Hex; topics?: Hex[] }
            if (filter.blockHash === undefined)
              return matching(chain.logs(numberOf(filter.fromBlock), numberOf(filter.toBlock)), filter)
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

/** A client of the chain in this process: real but for the wire. Layers go around it, the innermost first. */
export function clientOfChain(chain: ReorgChain, ...layers: readonly Layer[]): Client {
  const failureOf = (error: unknown, method: string): unknown => {
    if (!(error instanceof NodeError)) return error
    const { kind, refusal } = error
    return new KeyrailError(`${method} failed: ${kind}: ${refusal.message}`, {
      kind,
      source: 'node',
      retryable: passing.includes(kind),
      method,
      retryAfterMs: refusal.retryAfterMs,
      rpcError: { code: refusal.code, message: refusal.message, data: refusal.data },
    })
  }
  return createClient(
    compose(
      {
        redactedUrl: 'simulated',
        close: () => {},
        send: (call, settle) => {
          let over = false
          const end = (ok: boolean, value: unknown): void => {
            if (over) return
            over = true
            settle(ok, value)
          }
          call.cancel = (reason) => end(false, reason)
          chain.answer(call.method, JSON.parse(call.params) as unknown[]).then(
            (value) => end(true, JSON.parse(JSON.stringify(value))),
            (error: unknown) => end(false, isKeyrailError(error) ? error : failureOf(error, call.method)),
          )
        },
      },
      ...layers,
    ),
  )
}

/** The chain behind a real HTTP server. */
export interface ChainServer {
  readonly url: string
  /** How many requests it has not answered yet. */
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
      const send = (status: number, answer: object, retryAfterMs?: number): void => {
        if (retryAfterMs !== undefined) response.setHeader('retry-after', String(retryAfterMs / 1_000))
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
      }
      chain.answer(method, params).then(
        (result) => send(200, { result }),
        (error: unknown) => {
          const { status = 200, retryAfterMs, ...rpc } = (error as NodeError).refusal
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

/** What makes a log of the wire and a decoded one the same. */
export const placeOf = (log: { blockHash: Hex; blockNumber: Hex | bigint; logIndex: Hex | number }): string =>
  `${Number(log.blockNumber)}/${log.blockHash.slice(-6)}/${Number(log.logIndex)}`
