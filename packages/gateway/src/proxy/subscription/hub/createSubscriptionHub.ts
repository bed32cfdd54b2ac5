import type { Rejection } from '../../../errors/rejection.ts'
import { rejections } from '../../../errors/rejections.ts'
import { dropAllBytes, dropBytes, getOwnMost, holdBytes } from '../../../lib/memoryBudget.ts'
import type { Network } from '../../../lib/network.ts'
import type { ChainFollower, ChainStart, ChainStep } from '../followedChain.ts'
import type { TransactionReader } from '../node/createTransactionReader.ts'
import type { NodeSource } from '../nodeSource.ts'
import type { Subscriber, SubscriptionFault, SubscriptionHub, SubscriptionLimits } from '../subscriptionHub.ts'
import { deliverStart, deliverStep } from './chainTasks.ts'
import { createChannels } from './createChannels.ts'
import type { Channel, Connection } from './createChannels.ts'
import { createDelivery } from './createDelivery.ts'
import type { Delivery } from './createDelivery.ts'
import { createSharedUse } from './createSharedUse.ts'
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
  readonly limits: SubscriptionLimits
  /** Of this process. Ids are derived from it. */
  readonly secret: string | Uint8Array
  readonly readTransactions: TransactionReader
  /** The queue that delivers them in slices. @default createTaskQueue() */
  readonly queue?: TaskQueue
}

/** Creates the subscriptions of a network. They hold everything that they deliver in memory, so they belong to one process. */
export const createSubscriptionHub = (options: SubscriptionHubOptions): SubscriptionHub => {
  const { network, follower, source, limits, readTransactions } = options
  const toId = createSubscriptionIds(options.secret, network)
  const channels = createChannels()
  const connections = new Map<Subscriber, Connection>()
  /** Those whose subscriptions are being removed. */
  const ending = new Set<Connection>()
  /** Rejects each subscription that has not started yet. */
  const starting = new Set<(rejection: Rejection) => void>()
  let isClosed = false

  // Steps and starts share the queue, so a subscription that starts between two steps gets exactly those after it, even if earlier ones are still
  // being delivered.
  const { queue = createTaskQueue() } = options

  const startDelivery = (): Delivery =>
    createDelivery({
      maxNotificationsPerBlock: limits.maxNotificationsPerBlock,
      rejectFlood: (connection) => fail(connection, 'tooManyNotifications'),
    })

  function* failAll(fault: SubscriptionFault): Generator<number, void> {
    for (const connection of connections.values()) {
      if (![...connection.channels.values()].some(({ audience }) => isOfChain(audience.request))) continue
      fail(connection, fault)
      yield 1
    }
  }
  const onStep = (step: ChainStep): void => queue.push(() => deliverStep(step, channels, startDelivery()))

  const onPendingTransactions = (hashes: readonly string[]): void => {
    const deliver = (texts: readonly string[], full: boolean) =>
      deliverTransactions(texts, full, channels, startDelivery())
    const texts = hashes.map((hash) => JSON.stringify(hash))
    queue.push(() => deliver(texts, false))
    if (!wantsFullTransactions(channels)) return
    readTransactions(hashes, (text, delivered) =>
      queue.push(function* () {
        yield* deliver([text], true)
        delivered()
      }),
    )
  }
  const onSyncing = (status: string): void => queue.push(() => deliverSyncing(status, channels, startDelivery()))

  const chain = createSharedUse(() => {
    follower.start(onStep)
    return () => follower.stop()
  }, followGraceMs)
  const logs = createSharedUse(() => () => follower.releaseLogs(), 0)
  const transactions = createSharedUse(() => source.onPendingTransactions(onPendingTransactions), 0)
  const syncing = createSharedUse(() => source.onSyncing(onSyncing), 0)
  const uses = {
    newHeads: [chain],
    logs: [chain, logs],
    newPendingTransactions: [transactions],
    syncing: [syncing],
  }

  const end = (connection: Connection, channel: Channel): void => {
    const { request } = channel.audience
    channels.leave(connection, channel)
    dropBytes(connection.subscriber.memory, getSubscriptionBytes(request))
    for (const use of uses[request.kind]) use.release()
  }
  function* removeAll(connection: Connection): Generator<number, void> {
    for (const channel of connection.channels.values()) {
      end(connection, channel)
      yield 0
    }
    ending.delete(connection)
  }
  function* review(connection: Connection): Generator<number, void> {
    for (const channel of connection.channels.values()) {
      if (connection.isEnded) return
      const rejection = connection.reject?.(toSubscribeParams(channel.audience.request))
      if (rejection !== undefined) {
        end(connection, channel)
        connection.subscriber.end(channel.id, rejection)
      }
      yield 0
    }
  }
  /** Its subscriptions get nothing more. They are removed in slices, because a connection can have thousands. */
  const endAll = (connection: Connection): void => {
    if (connection.isEnded) return
    connection.isEnded = true
    ending.add(connection)
    queue.push(() => removeAll(connection))
  }
  const fail = (connection: Connection, fault: SubscriptionFault): void => {
    endAll(connection)
    connection.subscriber.fail(fault)
  }

  const connect = (subscriber: Subscriber): Connection => {
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

  return {
    subscribe: (subscriber, params, done) => {
      if (isClosed) return done(rejections.draining())
      const parsed = parseSubscription(params, limits)
      if ('status' in parsed) return done(parsed)
      const request: SubscriptionRequest = parsed
      const connection = connect(subscriber)
      if (connection.isEnded) return done(rejections.draining())
      if (connection.channels.size + connection.starting >= limits.maxSubscriptions)
        return done(subscriptionRejections.tooManySubscriptions(limits.maxSubscriptions))
      const bytes = getSubscriptionBytes(request)
      const { memory } = subscriber
      const ownMost = getOwnMost(memory)
      if (memory.held + bytes > ownMost) return done(subscriptionRejections.filtersTooLarge(ownMost))
      if (!holdBytes(memory, bytes)) return done(subscriptionRejections.noMemory())
      const id = toId(request.key, connection.ordinal)
      connection.ordinal += 1
      connection.starting += 1
      for (const use of uses[request.kind]) use.hold()

      const reject = (rejection: Rejection): void => {
        connection.starting -= 1
        dropBytes(subscriber.memory, bytes)
        for (const use of uses[request.kind]) use.release()
        done(rejection)
      }
      function* start(from: ChainStart | undefined): Generator<number, void> {
        starting.delete(reject)
        if (connection.isEnded) return reject(rejections.draining())
        const rejection = connection.reject?.(toSubscribeParams(request))
        if (rejection !== undefined) return reject(rejection)
        connection.starting -= 1
        const channel = channels.join(connection, request, id)
        dropBytes(subscriber.memory, bytes - getSubscriptionBytes(channel.audience.request))
        done({ id })
        if (from !== undefined && channel.audience.isInCursorMode)
          yield* deliverStart(from, { connection, channel }, startDelivery())
      }
      starting.add(reject)
      if (!isOfChain(request)) return queue.push(() => start(undefined))
      follower.locate({ cursor: request.cursor ?? undefined, logs: request.kind === 'logs' }, (result) => {
        if (!starting.has(reject)) return
        if (typeof result === 'object') return queue.push(() => start(result))
        starting.delete(reject)
        reject(result === 'tooOld' ? subscriptionRejections.cursorTooOld() : rejections.noUpstream(network))
      })
    },
    review: (subscriber, reject) => {
      const connection = connections.get(subscriber)
      if (connection === undefined) return
      connection.reject = reject
      queue.push(() => review(connection))
    },
    unsubscribe: (subscriber, id) => {
      const connection = connections.get(subscriber)
      const channel = connection?.channels.get(id)
      if (connection === undefined || channel === undefined) return false
      end(connection, channel)
      return true
    },
    leave: (subscriber) => {
      const connection = connections.get(subscriber)
      if (connection === undefined) return
      connections.delete(subscriber)
      endAll(connection)
    },
    fail: (reason) => queue.push(() => failAll(reason)),
    counts: channels.counts,
    close: () => {
      isClosed = true
      queue.clear()
      for (const connection of [...connections.values(), ...ending]) {
        connection.isEnded = true
        for (const channel of connection.channels.values()) channels.leave(connection, channel)
        dropAllBytes(connection.subscriber.memory)
      }
      connections.clear()
      ending.clear()
      for (const reject of starting) reject(rejections.draining())
      starting.clear()
      for (const use of [chain, logs, transactions, syncing]) use.close()
    },
  }
}

type ChainRequest = Extract<SubscriptionRequest, { readonly kind: 'newHeads' | 'logs' }>

const isOfChain = (request: SubscriptionRequest): request is ChainRequest =>
  request.kind === 'newHeads' || request.kind === 'logs'
