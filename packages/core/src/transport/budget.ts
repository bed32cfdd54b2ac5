import { createSharedTimer } from '../clock/createSharedTimer.ts'
import { now } from '../clock/now.ts'
import { createFailure } from '../failure/createFailure.ts'
import { check, checkNames, checkRange } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import { createPace } from './budgetPace.ts'
import type { Rejection } from './budgetPace.ts'
import type { Send, Priority, Settle } from './call.ts'
import { computeUnits } from './computeUnits.ts'
import { createDayCount } from './createDayCount.ts'
import type { Endpoint } from './http.ts'
import { createQueue } from './queue.ts'
import type { QueueEntry } from './queue.ts'
import { onCancel } from './onCancel.ts'
import type { RouteCall } from './routeCall.ts'
import { endWait } from './waits.ts'

/** Options of {@link budget}. */
export interface BudgetOptions {
  /** How many calls may go in a second; each item of a batch is one. Not together with `computeUnitsPerSecond`. @default no limit */
  readonly requestsPerSecond?: number | undefined
  /** How many compute units may go in a second, by the weights of `computeUnits`. @default no limit */
  readonly computeUnitsPerSecond?: number | undefined
  /** How many calls may go in a UTC day. Not together with `computeUnitsPerDay`. @default no limit */
  readonly requestsPerDay?: number | undefined
  /** How many compute units may go in a UTC day. @default no limit */
  readonly computeUnitsPerDay?: number | undefined
  /** How much may go at once after a rest, in the unit of the limit per second. @default a tenth of what a second gives */
  readonly burst?: number | undefined
  /** What methods cost, in compute units, where it differs from the built-in table. @default {} */
  readonly computeUnits?: Readonly<Record<string, number>> | undefined
  /** How long a call may wait for its turn, in milliseconds; its own time does not run meanwhile. @default 60_000 */
  readonly maxWaitMs?: number | undefined
}

/** What a budget has done, and what is left of it. */
export interface BudgetStats {
  readonly unit: 'requests' | 'computeUnits'
  /** Units per second now; undefined where nothing limits. */
  readonly rate: number | undefined
  /** Units sent since the beginning. */
  readonly used: number
  /** Sent since 00:00 UTC, in the unit of the limit per day. */
  readonly usedToday: number
  /** What is left until 00:00 UTC; undefined where no limit per day is set. */
  readonly leftToday: number | undefined
  /** How many calls wait, per lane. */
  readonly queued: Readonly<Record<Priority, number>>
  /** Until when the endpoint wants not to be asked, in milliseconds since 1970; undefined where it may be asked. */
  readonly pausedUntil: number | undefined
}

/** What the `budget` option of `createTransport` takes. Created by {@link budget}. */
export type BudgetFeature = <E extends Endpoint>(endpoint: E) => E & Budgeted

/** What {@link budget} adds to an endpoint. */
export interface Budgeted {
  /** How long a call would wait for its turn if it came now, in milliseconds: an estimate, because others may leave or go before it. */
  readonly waitMs: (call: RouteCall) => number
  readonly stats: () => BudgetStats
}

interface Waiter extends QueueEntry {
  readonly call: RouteCall
  readonly settle: Settle
  readonly cost: number
  readonly since: number
  readonly queue: number
  left: boolean
}

const priorities: readonly Priority[] = ['write', 'read', 'poll']

/** So many turns in a row may go past a call that has waited longer than those they went to. */
const MAX_PASSED = 9

const DAY_MS = 86_400_000

/** The number of the UTC day of a date in milliseconds. */
const dayOf = (date: number): number => Math.floor(date / DAY_MS)

const names: readonly (keyof BudgetOptions)[] = [
  'requestsPerSecond',
  'computeUnitsPerSecond',
  'requestsPerDay',
  'computeUnitsPerDay',
  'burst',
  'computeUnits',
  'maxWaitMs',
]

/**
 * Keeps an endpoint within what its key may use: so much a second, so much a UTC day. Calls over it wait in line.
 *
 * Writes go before reads, and reads before polling: a transaction that is late costs more than a screen, and a screen more than the next look
 * at the head. One turn in ten goes to whoever has waited longest, so that a flood of reads slows polling down to a tenth and does not end it,
 * while it loses no more than a tenth itself.
 *
 * With or without limits it listens to refusals. After "too many requests" the endpoint rests for as long as it asked (else 250 ms, doubling
 * up to 16 s), one call is let through, and then the others, at half the rate, which recovers within a minute of answers. After "quota used up" it is
 * closed until the reset that was named, else the end of the UTC day or some minutes.
 *
 * The count of a day is this transport's own: it begins at 0 with the program.
 *
 * @param options - The limits. With none, only refusals slow it.
 * @returns A function that puts the budget before an endpoint.
 * @throws {KeyrailError} kind `invalidRequest` where an option is wrong. A call fails with kind `throttled`, source `client`, where it would
 * wait longer than `maxWaitMs`, or, while the endpoint rests, past its deadline; with kind `quota` where it is the day that is used up.
 * It was not sent then.
 * @example
 * const limits = budget({ requestsPerSecond: 25, requestsPerDay: 25_000 })
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', budget: limits })
 * @see RFC 5681 section 3.1 (additive increase, multiplicative decrease)
 */
export function budget(options: BudgetOptions = {}): BudgetFeature {
  checkNames('budget', options, names)
  const { computeUnits: weights = {}, maxWaitMs = 60_000, ...limits } = options
  const { requestsPerSecond, computeUnitsPerSecond, requestsPerDay, computeUnitsPerDay, burst } = limits
  for (const [name, value] of Object.entries(limits)) checkRange(name, value, 0.001, 2 ** 31 - 1)
  checkRange('maxWaitMs', maxWaitMs, 0, 2 ** 31 - 1)
  check(
    Object(weights) === weights,
    `computeUnits must be an object with a number for each method, such as { eth_call: 26 }, not ${describeType(weights)}`,
  )
  for (const [name, weight] of Object.entries(weights)) checkRange(`computeUnits.${name}`, weight, 0, 1e9)
  check(
    !(requestsPerSecond && computeUnitsPerSecond) && !(requestsPerDay && computeUnitsPerDay),
    'set a limit in requests or in compute units, not both: remove one of them',
  )
  const limit = requestsPerSecond ?? computeUnitsPerSecond ?? Infinity
  check(
    burst === undefined || limit < Infinity,
    'burst works only with requestsPerSecond or computeUnitsPerSecond: set one of them, or remove burst',
  )
  const perDay = requestsPerDay ?? computeUnitsPerDay ?? Infinity
  const unitsOf = (method: string): number =>
    (Object.hasOwn(weights, method) ? weights[method] : undefined) ?? computeUnits(method)
  const costOf = computeUnitsPerSecond ? unitsOf : () => 1
  const dayCostOf = computeUnitsPerDay ? unitsOf : () => 1
  const burstMs = burst === undefined ? 100 : (burst / limit) * 1_000

  return (endpoint) => {
    const { redactedUrl } = endpoint
    const pace = createPace(limit, burstMs)
    const queues = priorities.map(() => createQueue<Waiter>())
    const queued = [0, 0, 0]
    const queuedCost = [0, 0, 0]
    let waiting = 0
    let passed = 0
    let used = 0
    const usedByDay = createDayCount()
    /** The UTC day, as it was last read. */
    let day = 0
    let dayReadAt = -Infinity
    let serving = false

    const queueOf = ({ method, options: { priority } }: RouteCall): number =>
      priority ? priorities.indexOf(priority) : method.startsWith('eth_send') ? 0 : 1

    /** How long until the day has room for a call, in milliseconds. */
    const untilDayMs = (method: string): number => {
      if (perDay === Infinity) return 0
      const date = Date.now()
      return usedByDay.get(dayOf(date)) + dayCostOf(method) > perDay ? DAY_MS - (date % DAY_MS) : 0
    }

    const refuse = ({ call, settle }: Pick<Waiter, 'call' | 'settle'>, kind: Rejection, ms: number): void =>
      settle(
        false,
        createFailure(
          {
            kind,
            text: `not sent: the budget allows no further request in the next ${Math.ceil(ms)} ms`,
            retryAfter: String(ms / 1_000),
            unsent: true,
            final: true,
          },
          { method: call.method, redactedUrl },
        ),
      )

    /** Sends a call. Its cost is given back where it turns out that it never went out. */
    const sendWaiter = (call: RouteCall, settle: Settle, cost: number, sentAt: number): void => {
      // Where the day has no limit it is counted for the statistics only, and asking for the time would be most of the cost.
      if (perDay < Infinity || sentAt > dayReadAt + 1_000) {
        dayReadAt = sentAt
        day = dayOf(Date.now())
      }
      const sentOn = day
      used += cost
      usedByDay.add(sentOn, dayCostOf(call.method))
      const trial = pace.send(cost, sentAt)
      endpoint.send(call, (ok, value) => {
        let rests = false
        if (
          !ok &&
          isKeyrailError(value) &&
          value.source === 'client' &&
          (value.kind === 'unavailable' || value.kind === 'throttled')
        ) {
          // An open breaker, or a gate that is full.
          const { method } = call
          used -= costOf(method)
          usedByDay.add(sentOn, -dayCostOf(method))
          pace.forget(trial, costOf(method))
        } else if (call.ended) pace.forget(trial, 0)
        else rests = pace.hear(sentAt, trial, ok ? undefined : value)
        if (rests) dismiss()
        settle(ok, value)
        if (waiting > 0 && (trial || rests)) serve()
      })
    }

    const leave = (waiter: Waiter): number => {
      const { queue, call, cost, since } = waiter
      const waitedMs = now() - since
      waiter.left = true
      queues[queue]?.leave(waiter)
      queued[queue] = (queued[queue] as number) - 1
      queuedCost[queue] = queued[queue] ? (queuedCost[queue] as number) - cost : 0
      endWait(call, waitedMs)
      if (--waiting === 0) timer.clear()
      return waitedMs
    }

    /** Whether a call may wait so long: through a rest of the endpoint only within its own time, which no queue of ours takes up. */
    const fits = ({ since, call }: Waiter, time: number, ms: number): boolean =>
      time + ms <= since + maxWaitMs && pace.pause(time).ms <= call.deadlineAt - since

    /** The endpoint rests: whoever cannot wait so long is told now, so that another endpoint can be asked. */
    const dismiss = (): void => {
      const time = now()
      const { ms, kind } = pace.pause(time)
      for (const waiter of queues.flatMap((queue) => queue.all()))
        if (!waiter.left && !fits(waiter, time, ms)) {
          leave(waiter)
          refuse(waiter, kind, ms)
        }
    }

    /** Who goes next, and who has waited longest. */
    const choose = (): { readonly next: Waiter; readonly oldest: Waiter } => {
      const [next, ...others] = queues.flatMap((queue) => queue.first() ?? []) as [Waiter, ...Waiter[]]
      let oldest = next
      for (const other of others) if (other.since < oldest.since) oldest = other
      return { next: passed < MAX_PASSED ? next : oldest, oldest }
    }

    /** Sends whoever may go, and sets the one timer for the others. */
    const serve = (): void => {
      // What settles at once comes back here: then the loop below goes on, and the stack does not grow.
      if (serving) return
      serving = true
      timer.clear()
      while (waiting > 0) {
        const { next, oldest } = choose()
        const time = now()
        const dayMs = untilDayMs(next.call.method)
        const ms = Math.max(dayMs, pace.waitMs(next.cost, time))
        const expired = oldest.since + maxWaitMs <= time
        if (ms === 0 && !pace.trying()) {
          passed = next === oldest ? 0 : passed + 1
          const waitMs = leave(next)
          next.call.note?.({ type: 'queued', redactedUrl, waitMs })
          sendWaiter(next.call, next.settle, next.cost, time)
        } else if (expired || (dayMs > 0 && !fits(next, time, dayMs))) {
          const waiter = expired ? oldest : next
          leave(waiter)
          refuse(waiter, expired ? 'throttled' : 'quota', ms)
        } else {
          const wakeMs = Math.min(pace.trying() ? Infinity : ms, oldest.since + maxWaitMs - time)
          timer.set(Math.ceil(wakeMs))
          break
        }
      }
      serving = false
    }
    const timer = createSharedTimer(serve)

    const waitMs = (call: RouteCall): number => waitOf(call, costOf(call.method), queueOf(call), now())
    const waitOf = (call: RouteCall, cost: number, queue: number, time: number): number => {
      let ahead = 0
      for (let i = 0; i <= queue; i++) ahead += queuedCost[i] as number
      return Math.max(0, untilDayMs(call.method), pace.waitMs(cost, time, ahead))
    }

    const send: Send = (call: RouteCall, settle) => {
      const cost = costOf(call.method)
      const time = now()
      const dayMs = untilDayMs(call.method)
      if (!waiting && !dayMs && !pace.trying() && pace.waitMs(cost, time) === 0)
        return sendWaiter(call, settle, cost, time)
      const queue = queueOf(call)
      const waiter: Waiter = {
        call,
        settle,
        cost,
        queue,
        since: time,
        left: false,
        before: undefined,
        after: undefined,
      }
      const ms = waitOf(call, cost, queue, time)
      const rest = pace.pause(time)
      if (!fits(waiter, time, ms)) return refuse(waiter, dayMs ? 'quota' : rest.ms ? rest.kind : 'throttled', ms)
      call.waitingSince = time
      onCancel(call, (reason) => {
        leave(waiter)
        settle(false, reason)
      })
      queues[queue]?.enter(waiter)
      queued[queue] = (queued[queue] as number) + 1
      queuedCost[queue] = (queuedCost[queue] as number) + cost
      waiting++
      // For all others the timer is set already.
      if (choose().next === waiter || !timer.isSet()) serve()
    }

    const stats = (): BudgetStats => {
      const date = Date.now()
      const usedToday = usedByDay.get(dayOf(date))
      const { ms } = pace.pause(now())
      const rate = pace.rate()
      const [write, read, poll] = queued as [number, number, number]
      return {
        unit: computeUnitsPerSecond ? 'computeUnits' : 'requests',
        rate: rate < Infinity ? rate : undefined,
        used,
        usedToday,
        leftToday: perDay < Infinity ? Math.max(0, perDay - usedToday) : undefined,
        queued: { write, read, poll },
        pausedUntil: ms ? date + ms : undefined,
      }
    }

    return { ...endpoint, send, waitMs, stats }
  }
}
