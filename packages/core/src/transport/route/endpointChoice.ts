import { now } from '../../clock/now.ts'
import { isReadMethod } from '../../failure/isReadMethod.ts'
import type { KeyrailError } from '../../failure/keyrailError.ts'
import type { Heads } from './heads.ts'
import { FRESH_HEAD_MS } from './heads.ts'
import type { RouteEndpoint } from './routeOptions.ts'
import type { RouteCall } from '../call/call.ts'

/** Chooses endpoints for calls. Endpoints are named by their position. */
export interface EndpointChoice {
  /**
   * Chooses the endpoint that a call is sent to next.
   *
   * @param tried - The endpoints that the call was sent to already: bit n for endpoint n.
   * @param minBlock - The lowest block that the response may be from; 0 for any.
   * @param maxCost - The highest cost that is acceptable if no endpoint is at most `acceptableWaitMs`.
   * @returns The position of the endpoint, or -1 if there is none.
   */
  readonly choose: (call: RouteCall, tried: number, minBlock: number, maxCost: number) => number
  /** Sends the further calls of a group to this endpoint, unless the group has one. */
  readonly assignGroup: (group: object, at: number) => void
  /** Chooses again for the next call of a group, if this endpoint is its own. */
  readonly releaseGroup: (group: object, at: number) => void
  /** Never chooses this endpoint again, because a response proved that it is on another chain. */
  readonly exclude: (at: number, failure: KeyrailError) => void
  /** The failure for which an endpoint was excluded. */
  readonly getExclusion: (at: number) => KeyrailError | undefined
}

/** Added to the cost of an endpoint that is known to be behind `minBlock`. */
const BEHIND_COST = 1e12

/** Added to the cost of an endpoint with an open circuit breaker. Above every other cost. */
export const OPEN_COST = 1e15

/**
 * How much shorter the known response time of an endpoint counts with each call that goes to another one. An endpoint that takes twice as long as the
 * fastest one is measured again after 69 calls, one that takes ten times as long after 230.
 */
const FADE = 0.99

/** After this many calls that went to other endpoints, one that has not responded yet is tried again. */
const CALLS_UNTIL_RETRY = 100

/**
 * Creates the choice between endpoints: the first one whose circuit breaker lets the call through and whose budget has room within
 * `acceptableWaitMs`, the fastest of them, or one of them in proportion to the weights. If there is none, the one of the lowest cost.
 *
 * @param endpoints - The endpoints in the order in which they are tried.
 * @param acceptableWaitMs - An endpoint at which the call would wait longer is skipped while another one is available.
 * @param heads - The heads of these endpoints.
 * @param prefersFastest - Whether the endpoint with the shortest response time is preferred to the first one. Weights other than 0 do not count then.
 */
export function createEndpointChoice(
  endpoints: readonly RouteEndpoint[],
  acceptableWaitMs: number,
  heads: Heads,
  prefersFastest = false,
): EndpointChoice {
  const isWeighted = endpoints.some(({ weight }) => weight !== undefined)
  const credits = endpoints.map(() => 0)
  /** How many calls went to other endpoints since the last one to this endpoint. */
  const skipped = endpoints.map(() => Infinity)
  const exclusions: (KeyrailError | undefined)[] = []
  const endpointOfGroup = new WeakMap<object, number>()

  /** The cost of sending a call to an endpoint, lower is better: the wait for its budget in milliseconds, and more if it should be avoided. */
  const getCost = (at: number, call: RouteCall, minBlock: number): number => {
    const { admits, waitMs, weight } = endpoints[at] as RouteEndpoint
    const { number, at: reportedAt } = heads.of(at)
    return (
      Math.max(waitMs?.(call) ?? 0, weight === 0 ? acceptableWaitMs + 1 : 0) +
      (minBlock > number && now() - reportedAt < FRESH_HEAD_MS ? BEHIND_COST : 0) +
      (admits?.(call) === false ? OPEN_COST : 0)
    )
  }

  /** The response time by which an endpoint is chosen. If the call may measure, it is shorter the longer the endpoint was not measured. */
  const getLatency = (at: number, mayMeasure: boolean): number => {
    const skips = skipped[at] as number
    const averageMs = (endpoints[at] as RouteEndpoint).averageMs?.()
    if (averageMs === undefined) return mayMeasure && skips >= CALLS_UNTIL_RETRY ? 0 : Infinity
    return mayMeasure ? averageMs * FADE ** skips : averageMs
  }

  /** The endpoint of the call's group, or -1. A group leaves an endpoint that is excluded or whose circuit breaker is open. */
  const chooseForGroup = (group: object, call: RouteCall, tried: number): number => {
    const at = endpointOfGroup.get(group)
    if (at === undefined || tried & (1 << at)) return -1
    if (!exclusions[at] && getCost(at, call, 0) < OPEN_COST) return at
    endpointOfGroup.delete(group)
    return -1
  }

  const choose: EndpointChoice['choose'] = (call, tried, minBlock, maxCost) => {
    const group = call.group ?? call.batch
    const ofGroup = group ? chooseForGroup(group, call, tried) : -1
    if (ofGroup >= 0) return ofGroup
    // A write does not measure: it is sent to the fastest known endpoint. Nor does a group, which would stay.
    const mayMeasure = !group && isReadMethod(call.method)
    let chosen = -1
    let lowestCost = Infinity
    let highestRank = -Infinity
    let totalWeight = 0
    for (let at = 0; at < endpoints.length; at++) {
      if (tried & (1 << at) || exclusions[at]) continue
      const cost = getCost(at, call, minBlock)
      if (cost <= acceptableWaitMs) {
        if (!isWeighted && !prefersFastest) return at
        const weight = endpoints[at]?.weight ?? 1
        // Smooth weighted round robin: the proportions are exact, and the calls are spread evenly.
        const rank = prefersFastest ? -getLatency(at, mayMeasure) : (credits[at]! += weight)
        if (totalWeight === 0 || rank > highestRank) {
          highestRank = rank
          chosen = at
        }
        totalWeight += weight
      } else if (totalWeight === 0 && cost < lowestCost && cost <= maxCost) {
        lowestCost = cost
        chosen = at
      }
    }
    if (prefersFastest) skipped.forEach((count, at) => (skipped[at] = at === chosen ? 0 : count + 1))
    else if (totalWeight > 0) credits[chosen]! -= totalWeight
    return chosen
  }

  return {
    choose,
    assignGroup: (group, at) => {
      if (!endpointOfGroup.has(group)) endpointOfGroup.set(group, at)
    },
    releaseGroup: (group, at) => {
      if (endpointOfGroup.get(group) === at) endpointOfGroup.delete(group)
    },
    exclude: (at, failure) => {
      exclusions[at] = failure
      heads.drop(at)
    },
    getExclusion: (at) => exclusions[at],
  }
}
