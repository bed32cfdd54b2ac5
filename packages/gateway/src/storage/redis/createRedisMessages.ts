import { randomUUID } from 'node:crypto'
import { Cluster } from 'ioredis'
import type { Redis } from 'ioredis'
import type { RedisLink } from './redisLink.ts'

/** Messages between all instances, by pub/sub of Redis. One can be lost: each channel needs a fallback. */
export interface RedisMessages {
  /** Publishes to all instances, including this one. */
  publish(channel: Channel, message: string): void
  /** Adds a listener, for messages of at most 1,000,000 characters. They are not trusted: other programs may have access to Redis. */
  subscribe(channel: Channel, listener: (message: string) => void): void
  /** Whether messages arrive now: one that this instance sent itself arrived in the last two seconds. */
  isListening(): boolean
  /** Adds a listener, called when messages start or stop to arrive. Those in between are lost. */
  onListening(listener: () => void): void
  close(): Promise<void>
}

const channels = ['kr:changes', 'kr:checks', 'kr:instances'] as const
/** `kr:changes`: entries that caches must evict. `kr:checks`: results of the checks of nodes. `kr:instances`: which instances run. */
export type Channel = (typeof channels)[number]

const maxMessageLength = 1_000_000
const retryMs = 200
const beatMs = 1_000
/** Own messages that may be missing before the connection counts as lost. */
const maxMissing = 2

/**
 * A separate connection, because one that subscribes takes no other commands. In a cluster each node gets all messages, so any node will do.
 * @returns `undefined` while no node of the cluster is known to work.
 */
const openListener = (client: Redis | Cluster): Redis | undefined => {
  if (!(client instanceof Cluster)) return client.duplicate({ autoResubscribe: false })
  const nodes = client.nodes('master').filter(({ status }) => status === 'ready')
  // Does not reconnect: then another node is chosen.
  return nodes[Math.floor(Math.random() * nodes.length)]?.duplicate({ autoResubscribe: false, retryStrategy: null })
}

/**
 * Subscribes to the messages of all instances, on a separate connection that reconnects when it is lost. A subscription can be deaf although its
 * connection is open, for example to a master that was replaced. So the instance sends itself a message every second, over the other connection.
 */
export const createRedisMessages = (redis: RedisLink): RedisMessages => {
  const ownChannel = `kr:own:${randomUUID()}`
  const listeners = new Map<string, ((message: string) => void)[]>(channels.map((channel) => [channel, []]))
  const stateListeners: (() => void)[] = []
  let connection: Redis | undefined
  let retryTimer: NodeJS.Timeout | undefined
  let closed = false
  let listening = false
  let missing = 0

  const publish = (channel: string, message: string): void => {
    if (redis.isReady()) redis.client.publish(channel, message).catch(() => {})
  }
  const setListening = (next: boolean): void => {
    if (listening === next || closed) return
    listening = next
    for (const listener of stateListeners) listener()
  }
  const openLater = (): void => {
    if (!closed) retryTimer = setTimeout(open, retryMs)
  }
  const open = (): void => {
    const opened = openListener(redis.client)
    connection = opened
    if (opened === undefined) {
      openLater()
      return
    }
    opened.on('error', () => {})
    opened.on('close', () => setListening(false))
    opened.on('end', openLater)
    opened.on('ready', () => {
      missing = 0
      opened.subscribe(...channels, ownChannel).then(
        () => publish(ownChannel, ''),
        () => {},
      )
    })
    opened.on('message', (channel: string, message: string) => {
      if (channel === ownChannel) {
        missing = 0
        setListening(true)
      } else if (message.length <= maxMessageLength)
        for (const listener of listeners.get(channel) ?? []) listener(message)
    })
    opened.connect().catch(() => {})
  }
  const beatTimer = setInterval(() => {
    // Counted, not timed: after a pause of this process, messages that wait in the socket are read before the next beat.
    if (missing >= maxMissing) {
      setListening(false)
      if (redis.isReady() && connection?.status === 'ready') {
        missing = 0
        connection.disconnect(true)
      }
    }
    missing += 1
    publish(ownChannel, '')
  }, beatMs).unref()
  open()
  return {
    publish,
    subscribe: (channel, listener) => void listeners.get(channel)?.push(listener),
    isListening: () => listening,
    onListening: (listener) => void stateListeners.push(listener),
    close: () => {
      closed = true
      listening = false
      clearInterval(beatTimer)
      clearTimeout(retryTimer)
      connection?.disconnect()
      return Promise.resolve()
    },
  }
}
