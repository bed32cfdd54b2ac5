import type { Channel, Connection, Group } from './createChannels.ts'
import { toTextFrames } from '../../../lib/textFrames.ts'

/** A set of notifications that is delivered at once, such as all of a block. */
export interface Delivery {
  /** Adds notifications for all subscriptions of a group. @param ends - One for each notification. */
  readonly add: (group: Group, ends: readonly Buffer[]) => Generator<number, void>
  /** Adds notifications for one subscription. */
  readonly addFor: (connection: Connection, channel: Channel, ends: readonly Buffer[]) => void
  /** Delivers what was added: to each connection all of its own in one turn. Then the delivery is empty again. */
  readonly flush: () => Generator<number, void>
}

/** The options of every delivery. */
export interface DeliveryOptions {
  readonly maxNotificationsPerBlock: number
  /** Ends a connection that gets too many. */
  readonly rejectFlood: (connection: Connection) => void
}

/** The most connections of one step of adding. */
const connectionsPerStep = 64

/** Starts a delivery. */
export const createDelivery = (options: DeliveryOptions): Delivery => {
  const { maxNotificationsPerBlock, rejectFlood } = options
  let filled: Channel[] = []
  let due: Connection[] = []

  const deliverDue = (connection: Connection): void => {
    const { subscriber, channels } = connection
    // A subscription may have ended since it was added.
    const current = connection.due.filter(({ id }) => channels.has(id))
    connection.due.length = 0
    let notifications = 0
    for (const { payload } of current) notifications += payload?.notifications ?? 0
    if (notifications > maxNotificationsPerBlock) return rejectFlood(connection)
    for (const { id, payload, group } of current) {
      // The subscriber may end its subscriptions when it gets something.
      if (payload === undefined || !channels.has(id)) continue
      subscriber.deliver(payload.frames, payload.notifications, group.request.kind)
    }
  }
  const fill = (channel: Channel, ends: readonly Buffer[]): void => {
    channel.payload = { frames: toTextFrames(channel.start, ends), notifications: ends.length }
    filled.push(channel)
  }
  const addTo = (connection: Connection, channel: Channel): void => {
    if (connection.due.length === 0) due.push(connection)
    connection.due.push(channel)
  }
  return {
    *add(group, ends) {
      for (const channel of group.channels) {
        fill(channel, ends)
        let step = 0
        for (const connection of channel.connections) {
          addTo(connection, channel)
          step += 1
          if (step % connectionsPerStep === 0) yield 0
        }
        yield 0
      }
    },
    addFor: (connection, channel, ends) => {
      fill(channel, ends)
      addTo(connection, channel)
    },
    *flush() {
      for (const connection of due) {
        deliverDue(connection)
        yield 1
      }
      for (const channel of filled) channel.payload = undefined
      filled = []
      due = []
    },
  }
}
