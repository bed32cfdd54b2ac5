import type { UpstreamOptions } from '../../options/upstreamOptions.ts'

/**
 * The most that an upstream may be sent, for nodes whose provider bills or throttles. A unit is a request, multiplied by the weight of its
 * method (those of the upstream, else of the gateway).
 */
export type BudgetLimits = Pick<
  UpstreamOptions,
  'maxRequestsPerSecond' | 'maxRequestsPerDay' | 'maxUnitsPerSecond' | 'maxUnitsPerDay'
>

/** How many units a call of a method uses, by name, and `*` for all others. */
type BudgetWeights = UpstreamOptions['weights']

/** The usage of the current second and the current day (UTC). A reload of the config preserves it. */
export interface BudgetUsage {
  readonly second: Period
  readonly day: Period
}

/** How much was sent in one second or day. */
interface Period {
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
  /** Whether it has room for this many more requests and units. */
  readonly hasRoom: (requests: number, units: number) => boolean
  /**
   * Whether the day has room for a request of the gateway's own, which uses this many units. It may exceed the limit of a second, which costs
   * nothing.
   */
  readonly hasRoomToday: (units: number) => boolean
  /** How many units calls use. @param units - How many they use at an upstream without weights of its own. */
  readonly getUnits: (calls: readonly { readonly method: string }[], units: number) => number
  /** Charges a request. */
  readonly charge: (requests: number, units: number) => void
  /** Its limits with their remaining units. Empty if it has none. */
  readonly states: () => readonly BudgetState[]
}

const secondMs = 1_000
const dayMs = 24 * 60 * 60 * secondMs

const createPeriod = (): Period => ({ index: 0, requests: 0, units: 0 })

/** Creates the usage of an upstream that was sent nothing. */
export const createBudgetUsage = (): BudgetUsage => ({ second: createPeriod(), day: createPeriod() })

/**
 * Creates the budget of an upstream.
 * @param limits - Without any, it always has room.
 * @param options.usage - The usage so far.
 * @param options.weights - @default those of the gateway
 * @param options.now - In milliseconds since 1970, because a day ends at midnight UTC. @default Date.now
 */
export const createBudget = (
  limits: BudgetLimits,
  {
    usage = createBudgetUsage(),
    weights,
    now = Date.now,
  }: { usage?: BudgetUsage; weights?: BudgetWeights; now?: () => number } = {},
): Budget => {
  const { second, day } = usage
  const requestsPerSecond = limits.maxRequestsPerSecond ?? Infinity
  const requestsPerDay = limits.maxRequestsPerDay ?? Infinity
  const unitsPerSecond = limits.maxUnitsPerSecond ?? Infinity
  const unitsPerDay = limits.maxUnitsPerDay ?? Infinity
  const isUnlimited = Math.min(requestsPerSecond, requestsPerDay, unitsPerSecond, unitsPerDay) === Infinity

  /** Starts a new period if the time of the last is over. A clock that goes back starts none. */
  const advance = (period: Period, index: number): void => {
    if (index <= period.index) return
    period.index = index
    period.requests = 0
    period.units = 0
  }
  const advanceBoth = (): void => {
    const time = now()
    advance(second, Math.floor(time / secondMs))
    advance(day, Math.floor(time / dayMs))
  }
  const dayHasRoom = (requests: number, units: number): boolean =>
    day.requests + requests <= requestsPerDay && day.units + units <= unitsPerDay

  return {
    hasRoom: (requests, units) => {
      if (isUnlimited) return true
      advanceBoth()
      const secondHasRoom = second.requests + requests <= requestsPerSecond && second.units + units <= unitsPerSecond
      return secondHasRoom && dayHasRoom(requests, units)
    },
    hasRoomToday: (units) => {
      if (isUnlimited) return true
      advanceBoth()
      return dayHasRoom(1, units)
    },
    getUnits: (calls, units) =>
      weights === undefined
        ? units
        : calls.reduce((sum, { method }) => sum + (weights[method] ?? weights['*'] ?? 1), 0),
    charge: (requests, units) => {
      if (isUnlimited) return
      advanceBoth()
      second.requests += requests
      second.units += units
      day.requests += requests
      day.units += units
    },
    states: () => {
      advanceBoth()
      const all: BudgetState[] = [
        { name: 'maxRequestsPerSecond', limit: requestsPerSecond, left: requestsPerSecond - second.requests },
        { name: 'maxRequestsPerDay', limit: requestsPerDay, left: requestsPerDay - day.requests },
        { name: 'maxUnitsPerSecond', limit: unitsPerSecond, left: unitsPerSecond - second.units },
        { name: 'maxUnitsPerDay', limit: unitsPerDay, left: unitsPerDay - day.units },
      ]
      return all
        .filter(({ limit }) => limit !== Infinity)
        .map(({ name, limit, left }) => ({ name, limit, left: Math.max(0, left) }))
    },
  }
}
