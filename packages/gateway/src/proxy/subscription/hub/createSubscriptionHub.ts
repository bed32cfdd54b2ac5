import type { Rejection } from '../../../errors/rejection.ts'
import { rejections } from '../../../errors/rejections.ts'
import { dropAllBytes, dropBytes, getOwnMost, holdBytes } from '../../../lib/memoryBudget.ts'
import type { Network } from '../../../lib/network.ts'
import type { ChainFollower, ChainStart } from '../followedChain.ts'
import type { TransactionReader } from '../node/createTransactionReader.ts'
import type { NodeSource } from '../nodeSource.ts'
import type { Subscriber, SubscriptionFault, SubscriptionHub, SubscriptionLimits } from '../subscriptionHub.ts'
import { deliverStart, deliverStep } from './chainTasks.ts'
import { createChannels } from './createChannels.ts'
import type { Channel, Channels, Connection } from './createChannels.ts'
import { createDelivery } from './createDelivery.ts'
import type { Delivery } from './createDelivery.ts'
import { createSharedUse } from './createSharedUse.ts'
import type { SharedUse } from './createSharedUse.ts'
import { createTaskQueue } from './createTaskQueue.ts'
import type { TaskQueue } from './createTaskQueue.ts'
import { deliverSyncing, deliverTransactions, wantsFullTransactions } from './nodeTasks.ts'
import { createSubscriptionIds } from './notification.ts'
import { getSubscriptionBytes, parseSubscription } from './parseSubscription.ts'
import { subscriptionRejections } from './subscriptionRejections.ts'
import { toSubscribeParams } from './subscriptionRequest.ts'
import type { SubscriptionRequest } from './subscriptionRequest.ts'

/** How long the chain is followed after its last subscription, in case the client connects again. */
const followGraceMs = 60_000

/** The parts of a hub. */
export interface SubscriptionHubOptions {
  readonly network: Network
  /** Only this hub starts and stops it. */
  readonly follower: ChainFollower
  /** The hub does not close it. */
  readonly source: NodeSource
  readonly getLimits: () => SubscriptionLimits
  /** Of this process. Ids are derived from it. */
  readonly secret: string | Uint8Array
  readonly readTransactions: TransactionReader
  /** The queue that delivers them in slices. @default createTaskQueue() */
  readonly queue?: TaskQueue
}

/** The state of the subscriptions of a network. */
interface Hub extends SubscriptionHubOptions {
  readonly channels: Channels
  readonly connections: Map<Subscriber, Connection>
  /** Those whose subscriptions are being removed. */
  readonly ending: Set<Connection>
  readonly starting: Set<StartingSubscription>
  /**
   * Steps and starts share it, so a subscription that starts between two steps gets exactly those after it, even if earlier ones are still being
   * delivered.
   */
  readonly queue: TaskQueue
  readonly toId: ReturnType<typeof createSubscriptionIds>
  /** What runs as long as there are subscriptions of a kind. */
  readonly uses: Readonly<Record<SubscriptionRequest['kind'], readonly SharedUse[]>>
  isClosed: boolean
}

/** A subscription that has not started yet. */
interface StartingSubscription {
  readonly connection: Connection
  readonly request: SubscriptionRequest
  readonly id: string
  readonly done: Parameters<SubscriptionHub['subscribe']>[2]
}

/** Creates the subscriptions of a network. They hold everything that they deliver in memory, so they belong to one process. */
export const createSubscriptionHub = (options: SubscriptionHubOptions): SubscriptionHub => {
  const { follower, source } = options
  const chain = createSharedUse(() => {
    follower.start((step) => hub.queue.push(() => deliverStep(step, hub.channels, startDelivery(hub))))
    return () => follower.stop()
  }, followGraceMs)
  const logs = createSharedUse(() => () => follower.releaseLogs(), 0)
  const transactions = createSharedUse(
    () => source.onPendingTransactions((hashes) => queueTransactions(hub, hashes)),
    0,
  )
  const syncing = createSharedUse(
    () => source.onSyncing((status) => hub.queue.push(() => deliverSyncing(status, hub.channels, startDelivery(hub)))),
    0,
  )
  const hub: Hub = {
    queue: createTaskQueue(),
    ...options,
    channels: createChannels(),
    connections: new Map(),
    ending: new Set(),
    starting: new Set(),
    toId: createSubscriptionIds(options.secret, options.network),
    uses: { newHeads: [chain], logs: [chain, logs], newPendingTransactions: [transactions], syncing: [syncing] },
    isClosed: false,
  }
  return {
    subscribe: (subscriber, params, done) => subscribe(hub, subscriber, params, done),
    review: (subscriber, reject) => {
      const connection = hub.connections.get(subscriber)
      if (connection === undefined) return
      connection.reject = reject
      hub.queue.push(() => review(hub, connection))
    },
    unsubscribe: (subscriber, id) => {
      const connection = hub.connections.get(subscriber)
      const channel = connection?.channels.get(id)
      if (connection === undefined || channel === undefined) return false
      end(hub, connection, channel)
      return true
    },
    leave: (subscriber) => {
      const connection = hub.connections.get(subscriber)
      if (connection === undefined) return
      hub.connections.delete(subscriber)
      endAll(hub, connection)
    },
    fail: (reason) => hub.queue.push(() => failAll(hub, reason)),
    counts: hub.channels.counts,
    close: () => close(hub),
  }
}

const startDelivery = (hub: Hub): Delivery =>
  createDelivery({
    maxNotificationsPerBlock: hub.getLimits().maxNotificationsPerBlock,
    rejectFlood: (connection) => fail(hub, connection, 'tooManyNotifications'),
  })

const queueTransactions = (hub: Hub, hashes: readonly string[]): void => {
  const { queue, channels } = hub
  const deliver = (texts: readonly string[], full: boolean) =>
    deliverTransactions(texts, full, channels, startDelivery(hub))
  const texts = hashes.map((hash) => JSON.stringify(hash))
  queue.push(() => deliver(texts, false))
  if (!wantsFullTransactions(channels)) return
  hub.readTransactions(hashes, (text, delivered) =>
    queue.push(function* () {
      yield* deliver([text], true)
      delivered()
    }),
  )
}

const connect = ({ connections }: Hub, subscriber: Subscriber): Connection => {
  const known = connections.get(subscriber)
  if (known !== undefined) return known
  const connection: Connection = {
    subscriber,
    channels: new Map(),
    starting: 0,
    ordinal: 0,
    isEnded: false,
    reject: undefined,
    due: [],
  }
  connections.set(subscriber, connection)
  return connection
}

const subscribe = (hub: Hub, ...[subscriber, params, done]: Parameters<SubscriptionHub['subscribe']>): void => {
  if (hub.isClosed) return done(rejections.draining())
  const request = parseSubscription(params, hub.getLimits())
  if ('status' in request) return done(request)
  const connection = connect(hub, subscriber)
  const rejection = holdRoom(hub, connection, request)
  if (rejection !== undefined) return done(rejection)
  const starting = { connection, request, id: hub.toId(request.key, connection.ordinal), done }
  connection.ordinal += 1
  connection.starting += 1
  for (const use of hub.uses[request.kind]) use.hold()
  hub.starting.add(starting)
  if (!isOfChain(request)) return hub.queue.push(() => start(hub, starting, undefined))
  hub.follower.locate({ cursor: request.cursor ?? undefined, logs: request.kind === 'logs' }, (result) => {
    if (!hub.starting.has(starting)) return
    if (typeof result === 'object') hub.queue.push(() => start(hub, starting, result))
    else if (result === 'tooOld') reject(hub, starting, subscriptionRejections.cursorTooOld())
    else reject(hub, starting, rejections.noUpstream(hub.network))
  })
}

/** Holds the memory of one more subscription. @returns Why there may be no more. */
const holdRoom = ({ getLimits }: Hub, connection: Connection, request: SubscriptionRequest): Rejection | undefined => {
  const { maxSubscriptions } = getLimits()
  const { subscriber, channels, isEnded, starting } = connection
  if (isEnded) return rejections.draining()
  if (channels.size + starting >= maxSubscriptions) return subscriptionRejections.tooManySubscriptions(maxSubscriptions)
  const bytes = getSubscriptionBytes(request)
  const ownMost = getOwnMost(subscriber.memory)
  if (subscriber.memory.held + bytes > ownMost) return subscriptionRejections.filtersTooLarge(ownMost)
  return holdBytes(subscriber.memory, bytes) ? undefined : subscriptionRejections.noMemory()
}

const reject = (hub: Hub, starting: StartingSubscription, rejection: Rejection): void => {
  const { connection, request, done } = starting
  hub.starting.delete(starting)
  connection.starting -= 1
  dropBytes(connection.subscriber.memory, getSubscriptionBytes(request))
  for (const use of hub.uses[request.kind]) use.release()
  done(rejection)
}

function* start(hub: Hub, starting: StartingSubscription, from: ChainStart | undefined): Generator<number, void> {
  const { connection, request, id, done } = starting
  const rejection = connection.isEnded ? rejections.draining() : connection.reject?.(toSubscribeParams(request))
  if (rejection !== undefined) return reject(hub, starting, rejection)
  hub.starting.delete(starting)
  connection.starting -= 1
  const channel = hub.channels.join(connection, request, id)
  // The position in the chain that a client resumes from is not needed any more.
  const unneeded = getSubscriptionBytes(request) - getSubscriptionBytes(channel.audience.request)
  dropBytes(connection.subscriber.memory, unneeded)
  done({ id })
  if (from !== undefined && channel.audience.isInCursorMode)
    yield* deliverStart(from, { connection, channel }, startDelivery(hub))
}

const end = ({ channels, uses }: Hub, connection: Connection, channel: Channel): void => {
  const { request } = channel.audience
  channels.leave(connection, channel)
  dropBytes(connection.subscriber.memory, getSubscriptionBytes(request))
  for (const use of uses[request.kind]) use.release()
}

function* review(hub: Hub, connection: Connection): Generator<number, void> {
  for (const channel of connection.channels.values()) {
    if (connection.isEnded) return
    const rejection = connection.reject?.(toSubscribeParams(channel.audience.request))
    if (rejection !== undefined) {
      end(hub, connection, channel)
      connection.subscriber.end(channel.id, rejection)
    }
    yield 0
  }
}

/** Ends a connection: its subscriptions get nothing more. They are removed in slices, because a connection can have thousands. */
const endAll = (hub: Hub, connection: Connection): void => {
  if (connection.isEnded) return
  connection.isEnded = true
  hub.ending.add(connection)
  hub.queue.push(() => removeAll(hub, connection))
}

function* removeAll(hub: Hub, connection: Connection): Generator<number, void> {
  for (const channel of connection.channels.values()) {
    end(hub, connection, channel)
    yield 0
  }
  hub.ending.delete(connection)
}

const fail = (hub: Hub, connection: Connection, fault: SubscriptionFault): void => {
  endAll(hub, connection)
  connection.subscriber.fail(fault)
}

function* failAll(hub: Hub, fault: SubscriptionFault): Generator<number, void> {
  for (const connection of hub.connections.values()) {
    if (![...connection.channels.values()].some(({ audience }) => isOfChain(audience.request))) continue
    fail(hub, connection, fault)
    yield 1
  }
}

const close = (hub: Hub): void => {
  const { queue, channels, connections, ending, starting, uses } = hub
  hub.isClosed = true
  queue.clear()
  for (const connection of [...connections.values(), ...ending]) {
    connection.isEnded = true
    for (const channel of connection.channels.values()) channels.leave(connection, channel)
    dropAllBytes(connection.subscriber.memory)
  }
  connections.clear()
  ending.clear()
  for (const each of starting) reject(hub, each, rejections.draining())
  for (const use of Object.values(uses).flat()) use.close()
}

const isOfChain = (
  request: SubscriptionRequest,
): request is Extract<SubscriptionRequest, { readonly kind: 'newHeads' | 'logs' }> =>
  request.kind === 'newHeads' || request.kind === 'logs'
