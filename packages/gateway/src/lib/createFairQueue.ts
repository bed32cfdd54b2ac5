import { createQueue } from './createQueue.ts'
import type { Queue } from './createQueue.ts'
import { removeFrom } from './removeFrom.ts'

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
  /**
   * Releases a slot when a call ends, and starts queued calls.
   * @param next - Called before: the first call that it starts gets the slot.
   */
  readonly release: (holder: SlotHolder, next?: () => void) => void
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

interface FairQueueState {
  readonly slots: number
  readonly slotsPerKey: number
  readonly maxQueued: number
  keys: Map<string, Key>
  owners: Map<string, Owner>
  /** At how many keys idle ones are dropped. */
  sweepAt: number
  active: number
  queued: number
  /** The owners that have queued calls, in round-robin order. */
  readonly queuedOwners: Owner[]
  isDispatching: boolean
  /** The key whose next call gets the slot that is being released. */
  reservedFor: string | undefined
}

/** The number of connections to a node. */
const defaultSlots = 128
const defaultMaxQueued = 1_000
/** Idle keys are dropped once there are this many keys. */
const minKeysToSweep = 1_024
const nothing = (): void => {}

const ownerHasSlot = (state: FairQueueState, owner: Owner): boolean => owner.active < state.slots - state.active

const sweep = (state: FairQueueState): void => {
  state.keys = new Map([...state.keys].filter(([, key]) => key.active > 0 || key.queue.size() > 0))
  state.owners = new Map([...state.owners].filter(([, owner]) => owner.active > 0 || owner.queuedKeys.length > 0))
  state.sweepAt = Math.max(minKeysToSweep, state.keys.size * 2)
}

const getKey = (state: FairQueueState, { keyId, ownerId }: SlotHolder): Key => {
  const known = state.keys.get(keyId)
  if (known !== undefined) return known
  // Idle keys stay in the map: adding and removing a key for each call would cost more than a sweep now and then.
  if (state.keys.size >= state.sweepAt) sweep(state)
  let owner = state.owners.get(ownerId)
  if (owner === undefined) state.owners.set(ownerId, (owner = { active: 0, queuedKeys: [] }))
  const key: Key = { owner, active: 0, queue: createQueue() }
  state.keys.set(keyId, key)
  return key
}

const dequeue = (state: FairQueueState, key: Key, waiter: Waiter): void => {
  clearTimeout(waiter.timer)
  if (!key.queue.remove(waiter.ticket)) return
  state.queued -= 1
  if (key.queue.size() > 0) return
  removeFrom(key.owner.queuedKeys, key)
  if (key.owner.queuedKeys.length === 0) removeFrom(state.queuedOwners, key.owner)
}

/** Runs the next call of an owner. @returns Whether the owner had a slot for it. */
const runNext = (state: FairQueueState, owner: Owner): boolean => {
  if (!ownerHasSlot(state, owner)) return false
  const key = owner.queuedKeys.find((queued) => queued.active < state.slotsPerKey)
  const waiter = key?.queue.first()
  if (key === undefined || waiter === undefined) return false
  dequeue(state, key, waiter)
  if (removeFrom(owner.queuedKeys, key)) owner.queuedKeys.push(key)
  waiter.cancel = waiter.run(Math.max(1, waiter.deadline - performance.now()))
  return true
}

const dispatch = (state: FairQueueState): void => {
  // A call may end as soon as it runs and release its slot: then the loop below continues with the next one.
  if (state.isDispatching || state.queuedOwners.length === 0) return
  state.isDispatching = true
  let skipped = 0
  while (state.active < state.slots && skipped < state.queuedOwners.length) {
    const owner = state.queuedOwners.shift()
    if (owner === undefined) break
    state.queuedOwners.push(owner)
    skipped = runNext(state, owner) ? 0 : skipped + 1
  }
  state.isDispatching = false
}

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
  const state: FairQueueState = {
    slots,
    slotsPerKey,
    maxQueued,
    keys: new Map(),
    owners: new Map(),
    sweepAt: minKeysToSweep,
    active: 0,
    queued: 0,
    queuedOwners: [],
    isDispatching: false,
    reservedFor: undefined,
  }
  return {
    hasSlot: ({ keyId, ownerId }) => {
      if (state.reservedFor === keyId) return true
      const key = state.keys.get(keyId)
      if (key !== undefined) return key.active < state.slotsPerKey && ownerHasSlot(state, key.owner)
      const owner = state.owners.get(ownerId)
      return owner === undefined ? state.active < state.slots : ownerHasSlot(state, owner)
    },
    acquire: (holder) => {
      state.reservedFor = undefined
      const key = getKey(state, holder)
      key.active += 1
      key.owner.active += 1
      state.active += 1
    },
    release: (holder, next) => {
      const key = getKey(state, holder)
      key.active -= 1
      key.owner.active -= 1
      state.active -= 1
      if (next !== undefined) {
        state.reservedFor = holder.keyId
        next()
        state.reservedFor = undefined
      }
      dispatch(state)
    },
    enqueue: (holder, { timeoutMs, run, onReject }) => {
      const key = getKey(state, holder)
      if (key.queue.size() >= state.maxQueued) {
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
        dequeue(state, key, waiter)
        onReject()
      }, timeoutMs)
      if (key.owner.queuedKeys.length === 0) state.queuedOwners.push(key.owner)
      if (key.queue.size() === 0) key.owner.queuedKeys.push(key)
      waiter.ticket = key.queue.push(waiter)
      state.queued += 1
      return () => {
        dequeue(state, key, waiter)
        waiter.cancel()
      }
    },
    state: () => ({ active: state.active, queued: state.queued }),
  }
}
