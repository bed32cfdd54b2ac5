import { monotonicClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { getUtcDay } from '../../lib/utcDay.ts'
import { createLocalLimits } from './createLocalLimits.ts'
import type { Quota, QuotaGrant, UsageLimits } from './usageLimits.ts'

/*
 * Units of a daily limit that a process may use without asking the store that counts for all processes. They are drawn in advance, in blocks, so that the
 * process decides at once. A unit is charged when it is drawn: a process that is killed can never lead over the limit. It forfeits the block that it holds.
 */

/** The permits of one daily limit in this process. */
export interface Permits {
  /** Whether so many units may be used now. If few are left, more are drawn in the background. */
  has(units: number): boolean
  /** Uses units. Call `has` before, in the same turn. */
  use(units: number): void
  /** Draws more units for a call that can wait. @returns Whether so many may be used now; a promise, which never rejects, if the store has to be asked. */
  draw(units: number): boolean | Promise<boolean>
  /** What is left of the limit, here and in the store, as of the last draw. */
  left(): number
}

/** The permits of all limits of this process. */
export interface PermitStore {
  /**
   * Gets the permits of a limit: the same for each call with this id. If the limit is another than before, what is held is returned.
   * @param id - The id of the quota, the same in all processes.
   */
  get(id: string, perDay: number): Permits
  /** Returns what is held and not used, and closes the limits. */
  close(): Promise<void>
}

/** Options of {@link createPermits}. */
export interface PermitOptions {
  /** Counts for all processes. Must grant nothing without its store. @default a counter of this process, which a restart forgets */
  readonly limits?: Pick<UsageLimits, 'take' | 'giveBack' | 'close'> | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
  /** Measures how fast permits are used. @default a monotonic clock */
  readonly clock?: Clock | undefined
}

interface Waiter {
  readonly units: number
  readonly resolve: (has: boolean) => void
}

interface PermitState {
  quota: Quota
  /** Units that may be used. */
  held: number
  /** When they end, in milliseconds since 1970; `undefined`: none were drawn or used today. */
  endMs: number | undefined
  /** The grants that they are from, the oldest first. */
  grants: QuotaGrant[]
  /** What the store had left after the last draw; `undefined`: not known. */
  storeLeft: number | undefined
  /** How many units a draw takes: about what is used in a second. */
  block: number
  /** When the last draw started, and when units were used or wanted last, by the clock. */
  drawnAt: number
  usedAt: number
  /** Until when draws of at least `pausedFrom` units are not tried: the store has too little, or does not respond. */
  pausedUntil: number
  pausedFrom: number
  /** The draw in flight. */
  drawing: Promise<void> | undefined
  readonly waiting: Set<Waiter>
}

/** What the functions of this file share. */
interface PermitContext {
  readonly limits: NonNullable<PermitOptions['limits']>
  readonly now: () => number
  readonly clock: Clock
  readonly states: Map<string, PermitState>
  /** Returns what nobody uses. */
  readonly timer: NodeJS.Timeout
  isClosed: boolean
}

/** A draw takes at most this part of what is left, so blocks become smaller as the limit comes nearer, and what a kill forfeits does. */
const maxPart = 1_000
/** The first block. It is enough for health checks and a few calls: a process that crashes again and again forfeits one each time. */
const firstBlock = 64
/** A block that is used up faster is too small, and one that lasts four times as long is too large, in milliseconds. */
const blockMs = 1_000
/** How long to believe that the store has too little left, or does not respond, in milliseconds: other processes may return what they hold. */
const pauseMs = 500
/** How long permits are held that nobody uses, in milliseconds. */
const idleMs = 10_000

/**
 * Creates the permits of this process. They need no timer before the first limit.
 * @example
 * const permits = createPermits().get('node:requests:mainnet/provider', 300_000)
 * if (permits.has(1)) permits.use(1)
 */
export const createPermits = (options: PermitOptions = {}): PermitStore => {
  let opened: PermitContext | undefined
  let closed: Promise<void> | undefined
  return {
    get: (id, perDay) => {
      const context = (opened ??= open(options))
      const { states, clock } = context
      let state = states.get(id)
      if (state === undefined) states.set(id, (state = createState(id, clock())))
      if (state.quota.perDay !== perDay) {
        returnHeld(context, state)
        const more = perDay - (state.quota.perDay ?? 0)
        state.quota = { id, perDay, perMonth: null }
        if (state.storeLeft !== undefined) state.storeLeft = Math.max(0, state.storeLeft + more)
        state.pausedUntil = -Infinity
      }
      return toPermits(context, state)
    },
    close: () => (closed ??= opened === undefined ? closeLimits(options) : close(opened)),
  }
}

const open = (options: PermitOptions): PermitContext => {
  const { now = Date.now, clock = monotonicClock() } = options
  const states: PermitContext['states'] = new Map()
  const timer = setInterval(() => {
    for (const state of states.values()) if (clock() - state.usedAt >= idleMs) returnHeld(context, state)
  }, idleMs / 4)
  timer.unref()
  const limits = options.limits ?? createLocalLimits({ now })
  const context = { limits, now, clock, states, timer, isClosed: false }
  return context
}

const closeLimits = async ({ limits }: Pick<PermitOptions, 'limits'>): Promise<void> => limits?.close()

/** Waits for the draws in flight, and returns what is held. */
const close = async (context: PermitContext): Promise<void> => {
  const { states, limits, timer } = context
  clearInterval(timer)
  context.isClosed = true
  await Promise.all([...states.values()].map(async ({ drawing }) => drawing))
  for (const state of states.values()) returnHeld(context, state)
  await limits.close()
}

const createState = (id: string, now: number): PermitState => ({
  quota: { id, perDay: 0, perMonth: null },
  held: 0,
  endMs: undefined,
  grants: [],
  storeLeft: undefined,
  block: firstBlock,
  drawnAt: now,
  usedAt: now,
  pausedUntil: -Infinity,
  pausedFrom: 0,
  drawing: undefined,
  waiting: new Set(),
})

const toPermits = (context: PermitContext, state: PermitState): Permits => {
  const has = (units: number): boolean => {
    dropEnded(context, state)
    if (state.held < units || state.held - units < getBlock(state) / 2) startDraw(context, state, units)
    return state.held >= units
  }
  return {
    has,
    use: (units) => {
      dropEnded(context, state)
      state.endMs ??= getUtcDay(context.now()).endMs
      state.held -= units
      state.usedAt = context.clock()
    },
    draw: (units) => {
      if (has(units)) return true
      if (state.drawing === undefined) return false
      return new Promise((resolve) => state.waiting.add({ units, resolve }))
    },
    left: () => {
      dropEnded(context, state)
      return Math.max(0, state.held + (state.storeLeft ?? state.quota.perDay ?? 0))
    },
  }
}

/** Drops the permits of a day that has ended. */
const dropEnded = ({ now }: PermitContext, state: PermitState): void => {
  if (state.endMs === undefined || now() < state.endMs) return
  state.endMs = undefined
  state.held = 0
  state.grants = []
  state.storeLeft = undefined
  state.pausedUntil = -Infinity
}

const returnHeld = ({ limits }: PermitContext, state: PermitState): void => {
  for (const grant of state.grants.splice(0).toReversed()) {
    if (state.held <= 0) break
    const returned = limits.giveBack(grant, Math.min(state.held, grant.charged))
    state.held -= returned
    if (state.storeLeft !== undefined) state.storeLeft += returned
  }
  // What could not be returned is forfeited.
  state.held = Math.min(0, state.held)
}

const getLeft = ({ storeLeft, quota }: PermitState): number => storeLeft ?? quota.perDay ?? 0

const getBlock = (state: PermitState): number => Math.min(state.block, Math.ceil(getLeft(state) / maxPart))

/** How many units to draw if `missing` are needed at least; 0: none. */
const getAmount = (state: PermitState, missing: number): number => {
  const left = getLeft(state)
  if (missing <= left) return Math.min(left, Math.max(missing, getBlock(state)))
  // Others may have returned some since: a draw shows what is left.
  return missing <= (state.quota.perDay ?? 0) ? missing : 0
}

const pause = ({ clock }: PermitContext, state: PermitState, from: number): void => {
  state.pausedUntil = clock() + pauseMs
  state.pausedFrom = from
}

/**
 * Starts to draw units, if the store may have them. Limits that need not wait for their store decide before this returns.
 * @param units - How many are needed.
 */
const startDraw = (context: PermitContext, state: PermitState, units: number): void => {
  const { clock, limits } = context
  const time = clock()
  state.usedAt = time
  for (;;) {
    const missing = Math.max(0, units - state.held)
    if (state.drawing !== undefined || context.isClosed) return
    if (time < state.pausedUntil && missing >= state.pausedFrom) return
    const amount = getAmount(state, missing)
    if (amount === 0) return
    resizeBlock(state, time)
    const { quota } = state
    const taken = limits.take({ id: quota.id, rate: undefined, quota, calls: 1, passed: 1, weights: [amount] })
    if (taken instanceof Promise) {
      state.drawing = taken
        .then(
          (grant) => grant.quota,
          () => undefined,
        )
        .then((grant) => {
          state.drawing = undefined
          setDrawn(context, state, grant, missing)
          serve(context, state)
        })
      return
    }
    setDrawn(context, state, taken.quota, missing)
    if (state.held >= units) return
  }
}

/** Lets a block last for about a second. */
const resizeBlock = (state: PermitState, time: number): void => {
  const lastedMs = time - state.drawnAt
  if (lastedMs < blockMs) state.block *= 2
  else if (lastedMs > 4 * blockMs) state.block = Math.max(firstBlock, Math.ceil(state.block / 2))
  state.block = Math.min(state.block, Math.ceil((state.quota.perDay ?? 0) / maxPart))
  state.drawnAt = time
}

/** Takes over what was drawn. @param grant - `undefined`: the store did not respond. @param missing - How many units were needed. */
const setDrawn = (context: PermitContext, state: PermitState, grant: QuotaGrant | undefined, missing: number): void => {
  dropEnded(context, state)
  const { endMs = 0 } = state
  const isOther = grant?.quota.perDay !== state.quota.perDay
  if (grant === undefined || isOther || grant.resetAtMs <= context.now() || grant.resetAtMs < endMs) {
    if (grant !== undefined) context.limits.giveBack(grant, grant.charged)
    if (grant === undefined || !isOther) pause(context, state, 0)
    return
  }
  // The clock of the store can be the first to start a day.
  if (grant.resetAtMs > endMs) state.held = 0
  state.endMs = grant.resetAtMs
  state.held += grant.charged
  state.storeLeft = grant.remaining ?? 0
  if (grant.charged > 0) state.grants.push(grant)
  else if (state.storeLeft < Math.max(1, missing)) pause(context, state, state.storeLeft + 1)
  dropUsedGrants(state)
}

/** Forgets the grants whose units are used. */
const dropUsedGrants = (state: PermitState): void => {
  let held = state.held
  let kept = state.grants.length
  while (kept > 0 && held > 0) held -= state.grants[(kept -= 1)]?.charged ?? 0
  state.grants.splice(0, kept)
}

/** Ends the waits of calls, in their order, and draws for the others. */
const serve = (context: PermitContext, state: PermitState): void => {
  const { waiting } = state
  let promised = 0
  let needed = 0
  for (const waiter of waiting) {
    needed += waiter.units
    if (needed > state.held) continue
    promised = needed
    waiting.delete(waiter)
    waiter.resolve(true)
  }
  for (;;) {
    const [first] = waiting
    if (first === undefined) return
    const fitting = Math.min(needed, state.held + getLeft(state))
    startDraw(context, state, Math.max(promised + first.units, fitting))
    if (state.drawing !== undefined) return
    waiting.delete(first)
    // What was drawn at once may be enough, and so may what a call left that did not fit.
    const has = state.held >= promised + first.units
    if (has) promised += first.units
    else needed -= first.units
    first.resolve(has)
  }
}
