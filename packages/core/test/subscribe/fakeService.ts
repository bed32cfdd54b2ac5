import { KeyrailError } from '../../src/index.ts'
import type { FailureKind, Hex, Transport } from '../../src/index.ts'
import { createChainTransport } from '../reorgChain.ts'
import type { ReorgChain, SimulatedBlock } from '../reorgChain.ts'
import { serveSubscriptions } from './serveSubscriptions.ts'
import type { SocketNotification, Subscriber } from './serveSubscriptions.ts'

/** The effect of the network on a notification. A connection delivers in order, so only a faulty proxy does more than `cut`. */
export type Fault = 'none' | 'drop' | 'duplicate' | 'swap' | 'cut'

/** A service with subscriptions over the simulated chain. It sends nothing until `send` is called. */
export interface FakeService {
  /** Calls go to the chain, subscriptions to this service. */
  readonly transport: Transport
  /** Sends what changed since the last time, through a network that treats each notification so. */
  readonly send: (fault?: () => Fault) => void
  /** Ends all subscriptions with their connection. */
  readonly cut: (kind?: FailureKind) => void
  /** How many subscriptions are open. */
  readonly open: () => number
  /** The params of each `eth_subscribe`. */
  readonly subscribed: (readonly unknown[])[]
  /** The error code of the next `eth_subscribe` calls. */
  rejection: number | undefined
}

interface Client {
  readonly subscriber: Subscriber
  readonly kind: unknown
  readonly filter: { readonly topics?: readonly Hex[] }
  readonly plain: boolean
  /** The blocks that it has, oldest first. */
  readonly sent: SimulatedBlock[]
  readonly waiting: SocketNotification[]
  unmarked: number
}

const hex = (value: number): Hex => `0x${value.toString(16)}`
const toPosition = ({ number, hash }: SimulatedBlock): SocketNotification => ({
  subscription: '0x1',
  position: { number: hex(number), hash },
})

const createError = (kind: FailureKind, code?: number): KeyrailError =>
  new KeyrailError(`eth_subscribe failed: ${kind}`, {
    kind,
    source: 'service',
    retryable: kind === 'network',
    method: 'eth_subscribe',
    rpcError: code === undefined ? undefined : { code, message: kind },
  })

/**
 * Creates the service.
 *
 * @param chain - The chain.
 * @param cursors - What it does with the `cursor` parameter of Keyrail's service.
 */
export function createFakeService(chain: ReorgChain, cursors: 'known' | 'rejected' | 'ignored' = 'known'): FakeService {
  const clients = new Set<Client>()
  const transport = createChainTransport(chain)

  const start = (cursor: { hashes: readonly Hex[] } | null): SimulatedBlock[] | undefined => {
    if (cursor === null) return chain.blocks.slice()
    const recent = chain.blocks.slice(-128)
    const common = cursor.hashes.map((hash) => recent.find((block) => block.hash === hash)).find((block) => block)
    return common && chain.blocks.slice(0, common.number + 1)
  }

  const subscribe = async (params: readonly unknown[], subscriber: Subscriber): Promise<string> => {
    service.subscribed.push(params)
    if (service.rejection !== undefined) throw createError('unknown', service.rejection)
    const last = cursors === 'ignored' ? {} : (Object(params.at(-1)) as { cursor?: { hashes: readonly Hex[] } | null })
    if ('cursor' in last && cursors === 'rejected') throw createError('invalidRequest', -32_602)
    const sent = start(last.cursor ?? null)
    if (!sent) throw createError('unknown', -32_001)
    const filter = params[0] === 'logs' ? (params[1] as Client['filter']) : {}
    const client: Client = {
      subscriber,
      kind: params[0],
      filter,
      plain: !('cursor' in last),
      sent,
      waiting: [],
      unmarked: 0,
    }
    subscriber.unsubscribe = () => clients.delete(client)
    clients.add(client)
    if (!client.plain) subscriber.onNotification(toPosition(sent.at(-1) as SimulatedBlock))
    return '0x1'
  }

  /** Adds what changed since the last time. */
  const update = (client: Client): void => {
    const { sent, waiting } = client
    const add = (result: unknown): unknown => waiting.push({ subscription: '0x1', result })
    while (sent.at(-1)?.hash !== chain.blocks[sent.length - 1]?.hash) {
      sent.pop()
      if (sent.at(-1)?.hash === chain.blocks[sent.length - 1]?.hash && !client.plain)
        waiting.push(toPosition(sent.at(-1) as SimulatedBlock))
    }
    for (const block of chain.blocks.slice(sent.length)) {
      sent.push(block)
      if (client.kind === 'newHeads') {
        add({
          number: hex(block.number),
          hash: block.hash,
          parentHash: block.parentHash,
          timestamp: hex(block.timestamp),
        })
        continue
      }
      const logs = block.logs.filter(({ topics }) => !client.filter.topics || client.filter.topics[0] === topics[0])
      for (const log of logs) add(log)
      if (client.plain) continue
      if (logs.length === 0 && ++client.unmarked < 16) continue
      client.unmarked = 0
      waiting.push(toPosition(block))
    }
  }

  const cutOne = (client: Client, kind: FailureKind = 'network'): void => {
    clients.delete(client)
    client.subscriber.onEnd(createError(kind))
  }

  const deliver = (client: Client, fault: () => Fault): void => {
    const { waiting, subscriber } = client
    for (let next = waiting.shift(); next && clients.has(client); next = waiting.shift()) {
      const now = fault()
      if (now === 'cut') return cutOne(client)
      if (now === 'drop') continue
      if (now === 'swap') {
        const second = waiting.shift()
        if (second) subscriber.onNotification(second)
      }
      subscriber.onNotification(next)
      if (now === 'duplicate') subscriber.onNotification(next)
    }
  }

  serveSubscriptions(transport, subscribe)

  const service: FakeService = {
    transport,
    send: (fault = () => 'none') => {
      for (const client of clients) {
        update(client)
        deliver(client, fault)
      }
    },
    cut: (kind) => {
      for (const client of clients) cutOne(client, kind)
    },
    open: () => clients.size,
    subscribed: [],
    rejection: undefined,
  }
  return service
}
