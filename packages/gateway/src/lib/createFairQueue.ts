import { createQueue } from './createQueue.ts'
import type { Queue } from './createQueue.ts'

/** The key and the owner that a slot counts for. */
export interface SlotHolder {
  readonly keyId: string
  /** The owner of the key. A key never changes its owner. */
  readonly ownerId: string
}

/** A queued call. */
interface Waiter {
  readonly deadline: number
  readonly run: (leftMs: number) => () => void
  /** Its ticket in the queue of its key. */
  ticket: number
  /** Cancels what `run` started. */
  cancel: () => void
  timer: NodeJS.Timeout | undefined
}

/** The calls of all keys of one owner. */
interface Owner {
  active: number
  /** The keys that have queued calls. They take turns: round robin. */
  readonly queuedKeys: Key[]
}

/** The calls of one key. */
interface Key {
  readonly owner: Owner
  active: number
  readonly queue: Queue<Waiter>
}

/**
 * Limits the calls in flight to the nodes of a network, and queues the rest. Owners take turns, and so do the keys of an owner, so that nobody
 * can take all connections.
 */
export interface FairQueue {
  /** Whether a call may start now. */
  readonly hasSlot: (holder: SlotHolder) => boolean
  /** Takes a slot when a call starts. Release it once. */
  readonly acquire: (holder: SlotHolder) => void
  /** Releases a slot when a call ends, and starts queued calls. */
  readonly release: (holder: SlotHolder) => void
  /**
   * Queues a call. `run` must acquire the slot itself if it starts a call.
   * @param options.timeoutMs - The longest queue time, in milliseconds.
   * @param options.run - Called once with the time left, in milliseconds. Returns a function that cancels what it started. Not called after
   * `onReject` or after the call was cancelled.
   * @param options.onReject - Called instead of `run` if the time is up, or immediately if the key's queue is full.
   * @returns A function that removes the call from the queue, or cancels what `run` started.
   */
  readonly enqueue: (
    holder: SlotHolder,
    options: { timeoutMs: number; run: (leftMs: number) => () => void; onReject: () => void },
  ) => () => void
  readonly state: () => QueueState
}

/** The calls of all keys in a fair queue. */
export interface QueueState {
  /** Calls that use a slot. */
  readonly active: number
  /** Calls that wait. */
  readonly queued: number
}

/** The number of connections to a node. */
const defaultSlots = 128
const defaultMaxQueued = 1_000
/** Idle keys are dropped once there are this many keys. */
const minKeysToSweep = 1_024
const nothing = (): void => {}

/**
 * Creates a fair queue. An owner may use as many slots as it leaves free: half of all if it is alone, a third if two owners want as many as
 * possible, a tenth if nine do. So a new owner always finds a free slot, however many others are greedy.
 * @param options.slots - Calls in flight of all owners. @default 128
 * @param options.slotsPerKey - Calls in flight of one key. @default as many as its owner may have
 * @param options.maxQueued - Queued calls of one key. @default 1000
 */
export const createFairQueue = (
  options: { slots?: number; slotsPerKey?: number; maxQueued?: number } = {},
): FairQueue => {
  const { slots = defaultSlots, slotsPerKey = slots, maxQueued = defaultMaxQueued } = options
  let keys = new Map<string, Key>()
  let owners = new Map<string, Owner>()
  let sweepAt = minKeysToSweep
  let active = 0
  let queued = 0
  /** The owners that have queued calls, in round-robin order. */
  const queuedOwners: Owner[] = []
  let isDispatching = false

  const ownerHasSlot = (owner: Owner): boolean => owner.active < slots - active
  const sweep = (): void => {
    keys = new Map([...keys].filter(([, key]) => key.active > 0 || key.queue.size() > 0))
    owners = new Map([...owners].filter(([, owner]) => owner.active > 0 || owner.queuedKeys.length > 0))
    sweepAt = Math.max(minKeysToSweep, keys.size * 2)
  }
  const getKey = ({ keyId, ownerId }: SlotHolder): Key => {
    const known = keys.get(keyId)
    if (known !== undefined) return known
    // Idle keys stay in the map: adding and removing a key for each call would cost more than a sweep now and then.
    if (keys.size >= sweepAt) sweep()
    let owner = owners.get(ownerId)
    if (owner === undefined) owners.set(ownerId, (owner = { active: 0, queuedKeys: [] }))
    const key: Key = { owner, active: 0, queue: createQueue() }
    keys.set(keyId, key)
    return key
  }
  const dequeue = (key: Key, waiter: Waiter): void => {
    clearTimeout(waiter.timer)
    if (!key.queue.remove(waiter.ticket)) return
    queued -= 1
    if (key.queue.size() > 0) return
    removeFrom(key.owner.queuedKeys, key)
    if (key.owner.queuedKeys.length === 0) removeFrom(queuedOwners, key.owner)
  }
  /** Runs the next call of an owner. @returns Whether the owner had a slot for it. */
  const runNext = (owner: Owner): boolean => {
    if (!ownerHasSlot(owner)) return false
    const key = owner.queuedKeys.find((queued) => queued.active < slotsPerKey)
    const waiter = key?.queue.first()
    if (key === undefined || waiter === undefined) return false
    dequeue(key, waiter)
    if (removeFrom(owner.queuedKeys, key)) owner.queuedKeys.push(key)
    waiter.cancel = waiter.run(Math.max(1, waiter.deadline - performance.now()))
    return true
  }
  const dispatch = (): void => {
    // A call may end as soon as it runs and release its slot: then the loop below continues with the next one.
    if (isDispatching || queuedOwners.length === 0) return
    isDispatching = true
    let skipped = 0
    while (active < slots && skipped < queuedOwners.length) {
      const owner = queuedOwners.shift()
      if (owner === undefined) break
      queuedOwners.push(owner)
      skipped = runNext(owner) ? 0 : skipped + 1
    }
    isDispatching = false
  }

  return {
    hasSlot: ({ keyId, ownerId }) => {
      const key = keys.get(keyId)
      if (key !== undefined) return key.active < slotsPerKey && ownerHasSlot(key.owner)
      const owner = owners.get(ownerId)
      return owner === undefined ? active < slots : ownerHasSlot(owner)
    },
    acquire: (holder) => {
      const key = getKey(holder)
      key.active += 1
      key.owner.active += 1
      active += 1
    },
    release: (holder) => {
      const key = getKey(holder)
      key.active -= 1
      key.owner.active -= 1
      active -= 1
      dispatch()
    },
    enqueue: (holder, { timeoutMs, run, onReject }) => {
      const key = getKey(holder)
      if (key.queue.size() >= maxQueued) {
        onReject()
        return nothing
      }
      const waiter: Waiter = {
        deadline: performance.now() + timeoutMs,
        run,
        ticket: 0,
        cancel: nothing,
        timer: undefined,
      }
      waiter.timer = setTimeout(() => {
        dequeue(key, waiter)
        onReject()
      }, timeoutMs)
      if (key.owner.queuedKeys.length === 0) queuedOwners.push(key.owner)
      if (key.queue.size() === 0) key.owner.queuedKeys.push(key)
      waiter.ticket = key.queue.push(waiter)
      queued += 1
      return () => {
        dequeue(key, waiter)
        waiter.cancel()
      }
    },
    state: () => ({ active, queued }),
  }
}

/** @returns Whether the list had the item. */
const removeFrom = <Item>(list: Item[], item: Item): boolean => {
  const index = list.indexOf(item)
  if (index !== -1) list.splice(index, 1)
  return index !== -1
}
