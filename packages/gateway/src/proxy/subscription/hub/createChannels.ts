import type { Rejection } from '../../../errors/rejection.ts'
import type { Subscriber, SubscriptionKind } from '../subscriptionHub.ts'
import { createLogIndex } from './createLogIndex.ts'
import type { LogIndex } from './createLogIndex.ts'
import { toNotificationStart } from './notification.ts'
import type { SubscriptionRequest } from './subscriptionRequest.ts'

/** A connection with what it has subscribed to. */
export interface Connection {
  readonly subscriber: Subscriber
  /** By id. */
  readonly channels: Map<string, Channel>
  /** How many subscriptions are about to start. */
  starting: number
  /** How often it has subscribed. */
  ordinal: number
  /** Whether it was closed, or will be: it gets nothing more. */
  isEnded: boolean
  /** Why it may not have a subscription, since its allow list has changed. */
  reject: ((params: string) => Rejection | undefined) | undefined
  /** The channels whose payload it gets next. */
  readonly due: Channel[]
}

/** The subscriptions with the same id, which get the same frames. */
export interface Channel {
  readonly id: string
  readonly audience: Audience
  /** The first characters of each frame. */
  readonly start: string
  readonly connections: Set<Connection>
  /** The next notifications for its connections. */
  payload: Payload | undefined
}

/** Notifications that are counted before they exist. */
export interface Notifications {
  readonly count: number
  /** Creates the end of each. It may be called more than once. */
  readonly toEnds: () => readonly Buffer[]
}

/** The next notifications of a channel. */
export interface Payload extends Notifications {
  /** Their frames, as long as several connections wait for them. */
  frames: Buffer | undefined
}

/** The channels that get the same notifications, except for their ids. */
export interface Audience {
  /** Without the cursor of a client. */
  readonly request: SubscriptionRequest
  /** @see SubscriptionRequest */
  readonly isInCursorMode: boolean
  readonly channels: Set<Channel>
}

/** All subscriptions of a network. */
export interface Channels {
  readonly join: (connection: Connection, request: SubscriptionRequest, id: string) => Channel
  readonly leave: (connection: Connection, channel: Channel) => void
  readonly audiences: (kind: SubscriptionKind) => Iterable<Audience>
  /** The audiences of logs. */
  readonly index: LogIndex<Audience>
  /** How many subscriptions there are. */
  readonly counts: () => Readonly<Record<SubscriptionKind, number>>
}

/** Creates an empty register of subscriptions. */
export const createChannels = (): Channels => {
  const channels = new Map<string, Channel>()
  const index = createLogIndex<Audience>()
  const counts = { newHeads: 0, logs: 0, newPendingTransactions: 0, syncing: 0 }
  /** By the keys of their requests. */
  const audiences: Readonly<Record<SubscriptionKind, Map<string, Audience>>> = {
    newHeads: new Map(),
    logs: new Map(),
    newPendingTransactions: new Map(),
    syncing: new Map(),
  }
  const openAudience = (request: SubscriptionRequest): Audience => {
    const known = audiences[request.kind].get(request.key)
    if (known !== undefined) return known
    const isInCursorMode = 'cursor' in request && request.cursor !== undefined
    const audience: Audience = {
      request: isInCursorMode ? { ...request, cursor: null } : request,
      isInCursorMode,
      channels: new Set(),
    }
    audiences[request.kind].set(request.key, audience)
    if (request.kind === 'logs') index.add(request.filter, audience)
    return audience
  }
  const openChannel = (request: SubscriptionRequest, id: string): Channel => {
    const known = channels.get(id)
    if (known !== undefined) return known
    const audience = openAudience(request)
    const channel = {
      id,
      audience,
      start: toNotificationStart(id),
      connections: new Set<Connection>(),
      payload: undefined,
    }
    channels.set(id, channel)
    audience.channels.add(channel)
    return channel
  }
  const closeChannel = (channel: Channel): void => {
    const { audience } = channel
    const { request } = audience
    channels.delete(channel.id)
    audience.channels.delete(channel)
    if (audience.channels.size > 0) return
    audiences[request.kind].delete(request.key)
    if (request.kind === 'logs') index.remove(request.filter, audience)
  }
  return {
    join: (connection, request, id) => {
      const channel = openChannel(request, id)
      channel.connections.add(connection)
      connection.channels.set(id, channel)
      counts[request.kind] += 1
      return channel
    },
    leave: (connection, channel) => {
      channel.connections.delete(connection)
      connection.channels.delete(channel.id)
      counts[channel.audience.request.kind] -= 1
      if (channel.connections.size === 0) closeChannel(channel)
    },
    audiences: (kind) => audiences[kind].values(),
    index,
    counts: () => ({ ...counts }),
  }
}
