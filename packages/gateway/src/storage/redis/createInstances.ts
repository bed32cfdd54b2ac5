import { randomUUID } from 'node:crypto'
import { monotonicClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { RedisMessages } from './createRedisMessages.ts'

/** This instance among all that run now. */
export interface InstanceShare {
  readonly instances: number
  /** Its place among them, from 0: the others have the other places. */
  readonly place: number
}

/** The instances that share one Redis. */
export interface Instances {
  /** While Redis is lost, it stays as it was. */
  readonly share: () => InstanceShare
  /** Notifies the others that this instance ends. */
  readonly leave: () => void
}

const channel = 'kr:instances'
const beatMs = 1_000
/** An instance from which nothing arrived for this long has ended, in milliseconds. */
const goneMs = 5_000
/** Other programs may have access to Redis. */
const maxInstances = 1_000
const form = /^(-?)([0-9a-f-]{36})$/

/** Counts the instances that share one Redis, by a message of each every second. A new one is known at once. */
export const createInstances = ({
  messages,
  clock = monotonicClock(),
}: {
  messages: RedisMessages
  /** @default a monotonic clock */
  clock?: Clock
}): Instances => {
  const own = randomUUID()
  const seenAt = new Map<string, number>()
  let share: InstanceShare = { instances: 1, place: 0 }
  const update = (): void => {
    const ids = [own, ...seenAt.keys()].toSorted()
    share = { instances: ids.length, place: ids.indexOf(own) }
  }
  let hasLeft = false
  const publish = (): void => {
    if (!hasLeft) messages.publish(channel, own)
  }
  messages.subscribe(channel, (message) => {
    const [, sign, id] = form.exec(message) ?? []
    if (id === undefined || id === own) return
    const isNew = sign === '' && !seenAt.has(id)
    if (sign === '-') seenAt.delete(id)
    else if (!isNew || seenAt.size < maxInstances) seenAt.set(id, clock())
    update()
    // It does not know this one yet.
    if (isNew) publish()
  })
  messages.onListening(() => {
    // Those that were not heard while Redis was lost get time to be heard.
    for (const id of seenAt.keys()) seenAt.set(id, clock())
    if (messages.isListening()) publish()
  })
  const timer = setInterval(() => {
    publish()
    if (!messages.isListening()) return
    for (const [id, at] of seenAt) if (clock() - at > goneMs) seenAt.delete(id)
    update()
  }, beatMs)
  timer.unref()
  return {
    share: () => share,
    leave: () => {
      clearInterval(timer)
      hasLeft = true
      messages.publish(channel, `-${own}`)
    },
  }
}
