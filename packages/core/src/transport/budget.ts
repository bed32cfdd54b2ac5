import { createSharedTimer } from '../clock/createSharedTimer.ts'
import { now } from '../clock/now.ts'
import { createFailure } from '../failure/createFailure.ts'
import { check, checkNames, checkRange } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import { hasFlag } from '../schema/methodFlags.ts'
import { createPace } from './endpoint/budgetPace.ts'
import type { Rejection } from './endpoint/budgetPace.ts'
import type { Send, Priority, Complete, RouteCall } from './call/call.ts'
import { endWait, startWait, timeLeft } from './call/callProgress.ts'
import type { Queued } from './call/callProgress.ts'
import { computeUnits } from './endpoint/computeUnits.ts'
import { createDayCount } from './endpoint/createDayCount.ts'
import type { Endpoint } from './endpoint/http.ts'
import { createQueue } from './call/queue.ts'
import type { QueueEntry } from './call/queue.ts'
import { onCancel } from './call/onCancel.ts'

/** Options of {@link budget}. */
export interface BudgetOptions {
  /** How many calls may be sent per second; each call of a batch counts. Not together with `computeUnitsPerSecond`. @default no limit */
  readonly requestsPerSecond?: number | undefined
  /** How many compute units may be spent per second, by the weights of `computeUnits`. @default no limit */
  readonly computeUnitsPerSecond?: number | undefined
  /** How many calls may be sent per UTC day. Not together with `computeUnitsPerDay`. @default no limit */
  readonly requestsPerDay?: number | undefined
  /** How many compute units may be spent per UTC day. @default no limit */
  readonly computeUnitsPerDay?: number | undefined
  /** How much may be sent at once after an idle time, in the unit of the limit per second. @default a tenth of that limit */
  readonly burst?: number | undefined
  /** The cost of methods in compute units, where it differs from the built-in table. @default {} */
  readonly computeUnits?: Readonly<Record<string, number>> | undefined
  /** How long a call may wait in the queue, in milliseconds. Its own deadline does not run during that time. @default 60_000 */
  readonly maxWaitMs?: number | undefined
}

/** How much of a budget is used, and how much is left. */
export interface BudgetStats {
  readonly unit: 'requests' | 'computeUnits'
  /** Units per second now; undefined if there is no limit. */
  readonly rate: number | undefined
  /** Units sent since the transport was created. */
  readonly used: number
  /** Sent since 00:00 UTC, in the unit of the limit per day. */
  readonly usedToday: number
  /** Units left until 00:00 UTC; undefined if no limit per day is set. */
  readonly leftToday: number | undefined
  /** How many calls wait, by priority. */
  readonly queued: Readonly<Record<Priority, number>>
  /** Until when no calls are sent because the endpoint asked for a pause, in milliseconds since 1970; undefined without a pause. */
  readonly pausedUntil: number | undefined
}

/** The value of the `budget` option of `createTransport`. Created by {@link budget}. */
export type BudgetFeature = <E extends Endpoint>(endpoint: E) => E & Budgeted

/** The members that {@link budget} adds to an endpoint. */
export interface Budgeted {
  /** How long a call would wait in the queue if it came now, in milliseconds. An estimate, because other calls may leave or go first. */
  readonly waitMs: (call: RouteCall) => number
  readonly stats: () => BudgetStats
}

interface Waiter extends QueueEntry, Queued {
  readonly call: RouteCall
  readonly complete: Complete
  readonly cost: number
  readonly queue: number
  left: boolean
}

const priorities: readonly Priority[] = ['write', 'read', 'poll']

/** How many calls in a row may go before a call that has waited longer. */
const MAX_PASSED = 9

const DAY_MS = 86_400_000

/** The number of the UTC day of a date in milliseconds. */
const toUtcDay = (date: number): number => Math.floor(date / DAY_MS)

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
 * Limits how much is sent to an endpoint per second and per UTC day. Calls over the limit wait in a queue.
 *
 * Writes go before reads, and reads before polls: a late transaction costs more than a late screen, and a late screen more than a late poll. One
 * call in ten is the one that has waited longest, so that many reads slow polling down to a tenth at most, and lose no more than a tenth themselves.
 *
 * With or without limits, it reacts to rejections. After "too many requests", it pauses for as long as the endpoint asked, or else for 250 ms, which
 * doubles up to 16 s. Then it sends one call as a trial, and after that the others at half the rate, which recovers within a minute of responses. After
 * "quota used up", it pauses until the reset that the endpoint named, or else until the end of the UTC day or for some minutes.
 *
 * The count of a day belongs to this transport: it starts at 0 with the program.
 *
 * @param options - The limits. With none, only rejections slow it down.
 * @returns A function that adds the budget to an endpoint.
 * @throws {KeyrailError} kind `invalidRequest` if an option is wrong. A call fails with kind `throttled`, source `client`, if it would wait longer
 * than `maxWaitMs` or, during a pause, longer than its deadline; with kind `quota` if the limit of the day is used up. It was not sent.
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
  const getUnits = (method: string): number =>
    (Object.hasOwn(weights, method) ? weights[method] : undefined) ?? computeUnits(method)
  const getCost = computeUnitsPerSecond ? getUnits : () => 1
  const getDayCost = computeUnitsPerDay ? getUnits : () => 1
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

    const getQueueIndex = ({ method, options: { priority } }: RouteCall): number =>
      priority ? priorities.indexOf(priority) : hasFlag(method, 'w') ? 0 : 1

    /** How long until the limit of the day allows a call, in milliseconds. */
    const untilDayMs = (method: string): number => {
      if (perDay === Infinity) return 0
      const date = Date.now()
      return usedByDay.get(toUtcDay(date)) + getDayCost(method) > perDay ? DAY_MS - (date % DAY_MS) : 0
    }

    const reject = ({ call, complete }: Pick<Waiter, 'call' | 'complete'>, kind: Rejection, ms: number): void =>
      complete(
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

    /** Sends a call. Its cost is returned if it turns out that it was not sent. */
    const sendWaiter = (call: RouteCall, complete: Complete, cost: number, sentAt: number): void => {
      // Without a limit per day, the count only serves the statistics, and reading the time would be most of its cost.
      if (perDay < Infinity || sentAt > dayReadAt + 1_000) {
        dayReadAt = sentAt
        day = toUtcDay(Date.now())
      }
      const sentOn = day
      used += cost
      usedByDay.add(sentOn, getDayCost(call.method))
      const trial = pace.send(cost, sentAt)
      endpoint.send(call, (ok, value) => {
        let isPausing = false
        if (
          !ok &&
          isKeyrailError(value) &&
          value.source === 'client' &&
          (value.kind === 'unavailable' || value.kind === 'throttled')
        ) {
          // The circuit breaker or the concurrency limit rejected it.
          const { method } = call
          used -= getCost(method)
          usedByDay.add(sentOn, -getDayCost(method))
          pace.forget(trial, getCost(method))
        } else if (call.ended) pace.forget(trial, 0)
        else isPausing = pace.hear(sentAt, trial, ok ? undefined : value)
        if (isPausing) rejectTooLate()
        complete(ok, value)
        if (waiting > 0 && (trial || isPausing)) serve()
      })
    }

    const leave = (waiter: Waiter): number => {
      const { queue, call, cost, since } = waiter
      const time = now()
      waiter.left = true
      queues[queue]?.leave(waiter)
      queued[queue] = (queued[queue] as number) - 1
      queuedCost[queue] = queued[queue] ? (queuedCost[queue] as number) - cost : 0
      endWait(call, waiter, time)
      if (--waiting === 0) timer.clear()
      return time - since
    }

    /** Whether a call may wait this long. A pause of the endpoint must end before the call's own deadline, which our queues do not use up. */
    const fits = ({ since, call }: Waiter, time: number, ms: number): boolean =>
      time + ms <= since + maxWaitMs && pace.pause(time).ms <= timeLeft(call)

    /** Rejects the calls that cannot wait until the pause ends, so that they can go to another endpoint now. */
    const rejectTooLate = (): void => {
      const time = now()
      const { ms, kind } = pace.pause(time)
      for (const waiter of queues.flatMap((queue) => queue.all()))
        if (!waiter.left && !fits(waiter, time, ms)) {
          leave(waiter)
          reject(waiter, kind, ms)
        }
    }

    /** The call that goes next, and the one that has waited longest. */
    const choose = (): { readonly next: Waiter; readonly oldest: Waiter } => {
      const [next, ...others] = queues.flatMap((queue) => queue.first() ?? []) as [Waiter, ...Waiter[]]
      let oldest = next
      for (const other of others) if (other.since < oldest.since) oldest = other
      return { next: passed < MAX_PASSED ? next : oldest, oldest }
    }

    /** Sends the calls that may go, and sets one timer for the others. */
    const serve = (): void => {
      // A call that completes at once calls this function again. The loop below continues then, so the stack does not grow.
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
          next.call.emit?.({ type: 'queued', redactedUrl, waitMs })
          sendWaiter(next.call, next.complete, next.cost, time)
        } else if (expired || (dayMs > 0 && !fits(next, time, dayMs))) {
          const waiter = expired ? oldest : next
          leave(waiter)
          reject(waiter, expired ? 'throttled' : 'quota', ms)
        } else {
          const wakeMs = Math.min(pace.trying() ? Infinity : ms, oldest.since + maxWaitMs - time)
          timer.set(Math.ceil(wakeMs))
          break
        }
      }
      serving = false
    }
    const timer = createSharedTimer(serve)

    const waitMs = (call: RouteCall): number => computeWaitMs(call, getCost(call.method), getQueueIndex(call), now())
    const computeWaitMs = (call: RouteCall, cost: number, queue: number, time: number): number => {
      let ahead = 0
      for (let i = 0; i <= queue; i++) ahead += queuedCost[i] as number
      return Math.max(0, untilDayMs(call.method), pace.waitMs(cost, time, ahead))
    }

    const send: Send = (call: RouteCall, complete) => {
      const cost = getCost(call.method)
      const time = now()
      const dayMs = untilDayMs(call.method)
      if (!waiting && !dayMs && !pace.trying() && pace.waitMs(cost, time) === 0)
        return sendWaiter(call, complete, cost, time)
      const queue = getQueueIndex(call)
      const waiter: Waiter = {
        call,
        complete,
        cost,
        queue,
        since: time,
        left: false,
        before: undefined,
        after: undefined,
      }
      const ms = computeWaitMs(call, cost, queue, time)
      const pause = pace.pause(time)
      if (!fits(waiter, time, ms)) return reject(waiter, dayMs ? 'quota' : pause.ms ? pause.kind : 'throttled', ms)
      startWait(call, waiter)
      onCancel(call, (reason) => {
        leave(waiter)
        complete(false, reason)
      })
      queues[queue]?.enter(waiter)
      queued[queue] = (queued[queue] as number) + 1
      queuedCost[queue] = (queuedCost[queue] as number) + cost
      waiting++
      // For all other calls the timer is set already.
      if (choose().next === waiter || !timer.isSet()) serve()
    }

    const stats = (): BudgetStats => {
      const date = Date.now()
      const usedToday = usedByDay.get(toUtcDay(date))
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
