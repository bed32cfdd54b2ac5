import type { InstanceShare } from '../../../storage/redis/createInstances.ts'
import { createPermits } from '../../../usage/limits/createPermits.ts'
import type { PermitStore } from '../../../usage/limits/createPermits.ts'
import type { SentCounts } from '../../../usage/traffic/createNodeTraffic.ts'
import type { MethodWeights } from '../../method/weights.ts'
import type { UpstreamOptions } from '../../options/upstreamOptions.ts'

/**
 * The most that an upstream may be sent, for nodes whose provider bills or throttles. A unit is a request, multiplied by the weight of its
 * method (those of the upstream, else of the gateway).
 */
export type BudgetLimits = Pick<
  UpstreamOptions,
  'maxRequestsPerSecond' | 'maxRequestsPerDay' | 'maxUnitsPerSecond' | 'maxUnitsPerDay'
>

/** What a budget is created of. */
type BudgetOptions = Pick<UpstreamOptions, keyof BudgetLimits | 'weights' | 'unitPrice'>

/** What an upstream was sent in one second. A reload of the config preserves it. */
export interface SecondUsage {
  /** Its number: the time divided by its length. */
  index: number
  requests: number
  units: number
}

/** One limit of a budget, and its remaining units. */
export interface BudgetState {
  readonly name: keyof BudgetLimits
  readonly limit: number
  readonly left: number
}

/** A budget of one upstream. It is never exceeded. */
export interface Budget {
  /** Whether it has room for this many more requests and units. If so, charge them in the same turn. */
  readonly hasRoom: (requests: number, units: number) => boolean
  /**
   * Gets room for so many requests and units, if other instances have left it. The limit of a second gets room only with time.
   * @returns Whether there is room; a promise, which never rejects, if the store has to be asked.
   */
  readonly draw: (requests: number, units: number) => boolean | Promise<boolean>
  /** Whether the day is used up, at all instances. */
  readonly isUsedUp: () => boolean
  /** Whether the second has no room for one more request of a unit. */
  readonly isSecondUsedUp: () => boolean
  /**
   * Whether the day has room for a request of the gateway's own, which uses this many units. It may exceed the limit of a second, which costs
   * nothing.
   */
  readonly hasRoomToday: (units: number) => boolean
  /** Gets that room if other instances have left it. @returns As `draw`. */
  readonly drawToday: (units: number) => boolean | Promise<boolean>
  /** How many units calls use. @param units - How many they use at an upstream without weights of its own. */
  readonly getUnits: (calls: readonly { readonly method: string }[], units: number) => number
  /** What a unit costs, in a currency of all nodes. 0: a node of the operator's own. */
  readonly unitPrice: number
  /** What the upstream was sent since the process started. */
  readonly sent: SentCounts
  /** Charges a request. */
  readonly charge: (requests: number, units: number) => void
  /** Its limits with their remaining units. Empty if it has none. */
  readonly states: () => readonly BudgetState[]
}

const secondMs = 1_000

/** Creates the usage of an upstream that was sent nothing. */
export const createSecondUsage = (): SecondUsage => ({ index: 0, requests: 0, units: 0 })

/**
 * The part of a limit of a second that an instance has. The remainder goes to each in turn, and so does the room for the heaviest call if
 * it needs more than a part.
 */
const getShare = (limit: number, heaviest: number, second: number, { instances, place }: InstanceShare): number => {
  if (limit === Infinity || instances === 1) return limit
  const turn = (place + second) % instances
  if (heaviest <= Math.ceil(limit / instances)) return divide(limit, instances, turn)
  return turn === 0 ? heaviest : divide(limit - heaviest, instances - 1, turn - 1)
}

const divide = (limit: number, parts: number, turn: number): number =>
  Math.floor(limit / parts) + (turn < limit % parts ? 1 : 0)

/** Gets the most units that a call uses, as far as a limit allows that call at all. */
const createHeaviest = (limit: number, getWeights: () => MethodWeights | undefined): (() => number) => {
  let known: { readonly weights: MethodWeights | undefined; readonly units: number } | undefined
  return () => {
    const weights = getWeights()
    if (known?.weights !== weights || known === undefined)
      known = { weights, units: Math.max(1, ...Object.values(weights ?? {}).filter((units) => units <= limit)) }
    return known.units
  }
}

/** Whether both are true. */
const areBoth = async (one: boolean | Promise<boolean>, other: boolean | Promise<boolean>): Promise<boolean> =>
  (await one) && other

const alone: InstanceShare = { instances: 1, place: 0 }

/**
 * Creates the budget of an upstream.
 * @param limits - Without any, it always has room. `weights` are by default those of the gateway.
 * @param options.id - Of the upstream: the same at all instances, and after a reload.
 * @param options.permits - Those of the limits of a day. @default counted here
 * @param options.sent - Counts what the upstream is sent. @default from 0
 * @param options.second - The usage so far.
 * @param options.getInstances - The instances that share the limits of a second. @default only this one
 * @param options.getWeights - Gets those of the gateway for the network. @default 1 each
 * @param options.now - In milliseconds since 1970. @default Date.now
 */
export const createBudget = (
  limits: BudgetOptions,
  options: {
    readonly id?: string
    readonly permits?: PermitStore | undefined
    readonly sent?: SentCounts
    readonly second?: SecondUsage
    readonly getInstances?: (() => InstanceShare) | undefined
    readonly getWeights?: () => MethodWeights | undefined
    readonly now?: (() => number) | undefined
  } = {},
): Budget => {
  const { id = '', sent = { calls: { total: 0 }, units: { total: 0 } } } = options
  const { second = createSecondUsage(), getInstances = () => alone, getWeights, now = Date.now } = options
  const { weights, maxRequestsPerDay: requestsPerDay, maxUnitsPerDay: unitsPerDay } = limits
  const requestsPerSecond = limits.maxRequestsPerSecond ?? Infinity
  const unitsPerSecond = limits.maxUnitsPerSecond ?? Infinity
  const getHeaviest = createHeaviest(unitsPerSecond, () => weights ?? getWeights?.())
  const isLimitedBySecond = Math.min(requestsPerSecond, unitsPerSecond) < Infinity
  const isLimitedByDay = requestsPerDay !== undefined || unitsPerDay !== undefined
  const permits = isLimitedByDay ? (options.permits ?? createPermits({ now })) : undefined
  const dayRequests = requestsPerDay === undefined ? undefined : permits?.get(`node:requests:${id}`, requestsPerDay)
  const dayUnits = unitsPerDay === undefined ? undefined : permits?.get(`node:units:${id}`, unitsPerDay)

  /** Starts a new second if the last is over. A clock that goes back starts none. */
  const advance = (): void => {
    const index = Math.floor(now() / secondMs)
    if (index <= second.index) return
    second.index = index
    second.requests = 0
    second.units = 0
  }
  const secondHasRoom = (requests: number, units: number): boolean => {
    if (!isLimitedBySecond) return true
    advance()
    const share = getInstances()
    return (
      second.requests + requests <= getShare(requestsPerSecond, 1, second.index, share) &&
      second.units + units <= getShare(unitsPerSecond, getHeaviest(), second.index, share)
    )
  }
  const dayHasRoom = (requests: number, units: number): boolean => {
    const hasUnits = dayUnits?.has(units) ?? true
    return (dayRequests?.has(requests) ?? true) && hasUnits
  }
  const dayDraw = (requests: number, units: number): boolean | Promise<boolean> => {
    const [first, second] = [dayRequests?.draw(requests) ?? true, dayUnits?.draw(units) ?? true]
    if (first === false || second === false) return false
    return first === true && second === true ? true : areBoth(first, second)
  }

  return {
    hasRoom: (requests, units) => secondHasRoom(requests, units) && dayHasRoom(requests, units),
    draw: (requests, units) => secondHasRoom(requests, units) && dayDraw(requests, units),
    drawToday: (units) => dayDraw(1, units),
    isSecondUsedUp: () => !secondHasRoom(1, 1),
    isUsedUp: () => Math.min(dayRequests?.left() ?? Infinity, dayUnits?.left() ?? Infinity) < 1,
    hasRoomToday: (units) => dayHasRoom(1, units),
    getUnits: (calls, units) =>
      weights === undefined
        ? units
        : calls.reduce((sum, { method }) => sum + (weights[method] ?? weights['*'] ?? 1), 0),
    unitPrice: limits.unitPrice ?? (weights === undefined && !isLimitedByDay ? 0 : 1),
    sent,
    charge: (requests, units) => {
      sent.calls.total += requests
      sent.units.total += units
      if (isLimitedBySecond) {
        advance()
        second.requests += requests
        second.units += units
      }
      dayRequests?.use(requests)
      dayUnits?.use(units)
    },
    states: () => {
      advance()
      const all: readonly [name: keyof BudgetLimits, left: number | undefined][] = [
        ['maxRequestsPerSecond', requestsPerSecond - second.requests],
        ['maxRequestsPerDay', dayRequests?.left()],
        ['maxUnitsPerSecond', unitsPerSecond - second.units],
        ['maxUnitsPerDay', dayUnits?.left()],
      ]
      return all.flatMap(([name, left = 0]) => {
        const limit = limits[name]
        return limit === undefined ? [] : [{ name, limit, left: Math.max(0, left) }]
      })
    },
  }
}
