import type { Channel, Connection, Audience, Notifications, Payload } from './createChannels.ts'
import { isFull } from './subscriptionRequest.ts'
import { toTextFrames } from '../../../lib/textFrames.ts'

/** A set of notifications that is delivered together, such as all of a block. */
export interface Delivery {
  /** Adds notifications for all subscriptions of an audience. */
  readonly add: (audience: Audience, notifications: Notifications) => Generator<number, void>
  /** Adds notifications for one subscription. */
  readonly addFor: (connection: Connection, channel: Channel, notifications: Notifications) => void
  /** Delivers what was added, to one connection after the other. Then the delivery is empty again. */
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
/** The frames of one step of writing, in bytes. */
const bytesPerStep = 256 * 1024
/** Writing this many bytes takes about as long as the system call itself. */
const bytesPerWrite = 16 * 1024
/**
 * The most bytes of frames that wait for their next connection. Above this they are created again. More than all that one connection gets of a block,
 * so that connections with the same subscriptions share them.
 */
const maxFrameBytes = 24 * 1024 * 1024

/** Starts a delivery. Its notifications are counted first, and each frame is created only when it is sent. */
export const createDelivery = (options: DeliveryOptions): Delivery => {
  const { maxNotificationsPerBlock, rejectFlood } = options
  let filled: Channel[] = []
  let due: Connection[] = []
  let withFrames: Payload[] = []
  let frameBytes = 0

  const dropFrames = (): void => {
    for (const payload of withFrames) payload.frames = undefined
    withFrames = []
    frameBytes = 0
  }
  const getFrames = (channel: Channel, payload: Payload): Buffer => {
    if (payload.frames !== undefined) return payload.frames
    const frames = toTextFrames(channel.start, payload.toEnds())
    // Nobody else gets them.
    if (channel.connections.size === 1) return frames
    if (frameBytes + frames.length > maxFrameBytes) dropFrames()
    frameBytes += frames.length
    withFrames.push(payload)
    payload.frames = frames
    return frames
  }
  // A subscription may have ended since it was added, or ends when its connection gets something.
  const isCurrent = ({ isEnded, channels }: Connection, { id }: Channel): boolean => !isEnded && channels.has(id)
  const isFlooded = (connection: Connection): boolean => {
    let notifications = 0
    for (const channel of connection.due)
      if (isCurrent(connection, channel)) notifications += channel.payload?.count ?? 0
    return notifications > maxNotificationsPerBlock
  }
  const fill = (channel: Channel, notifications: Notifications): void => {
    channel.payload = { ...notifications, frames: undefined }
    filled.push(channel)
  }
  const addTo = (connection: Connection, channel: Channel): void => {
    if (connection.due.length === 0) due.push(connection)
    connection.due.push(channel)
  }
  return {
    *add(audience, notifications) {
      for (const channel of audience.channels) {
        fill(channel, notifications)
        let step = 0
        for (const connection of channel.connections) {
          addTo(connection, channel)
          step += 1
          if (step % connectionsPerStep === 0) yield 0
        }
        yield 0
      }
    },
    addFor: (connection, channel, notifications) => {
      fill(channel, notifications)
      addTo(connection, channel)
    },
    *flush() {
      for (const connection of due) {
        if (isFlooded(connection)) rejectFlood(connection)
        let bytes = 0
        for (const channel of connection.due) {
          const { payload, audience } = channel
          if (payload === undefined || !isCurrent(connection, channel)) continue
          const frames = getFrames(channel, payload)
          connection.subscriber.deliver(frames, payload.count, audience.request.kind, isFull(audience.request) ? 1 : 0)
          bytes += frames.length
          if (bytes < bytesPerStep) continue
          yield bytes / bytesPerWrite
          bytes = 0
        }
        connection.due.length = 0
        yield 1 + bytes / bytesPerWrite
      }
      dropFrames()
      for (const channel of filled) channel.payload = undefined
      filled = []
      due = []
    },
  }
}
