import type { Durations } from '../../lib/createDurations.ts'
import type { Network } from '../../lib/network.ts'
import { isExpensive } from '../method/createMethodPolicy.ts'
import type { Backoff } from './health/createBackoff.ts'
import type { Budget, BudgetState } from './health/createBudget.ts'
import type { Capabilities } from './health/createCapabilities.ts'
import type { Disputes } from './health/createDisputes.ts'
import type { Finality } from './health/createFinality.ts'
import { createLatency } from './health/createLatency.ts'
import type { Latency } from './health/createLatency.ts'
import { createOutcomes } from './health/createOutcomes.ts'
import type { Outcomes } from './health/createOutcomes.ts'
import type { Upstream } from './createUpstream.ts'
import type { CallOutcome } from './health/callOutcome.ts'
import type { UpstreamOptions } from '../options/upstreamOptions.ts'
import type { Health } from './health/watchHealth.ts'

/** An upstream of a group, with all that is known about it. */
export interface GroupMember {
  /** Its name in logs and metrics. */
  readonly name: string
  readonly urlHash: string
  readonly upstream: Upstream
  readonly health: Health
  readonly finality: Finality
  readonly budget: Budget
  readonly backoff: Backoff
  readonly capabilities: Capabilities
  /** Of its cheap calls. */
  readonly latency: Latency
  readonly expensiveLatency: Latency
  readonly outcomes: Outcomes
  readonly disputes: Disputes
  /** Upstreams with the same group are not independent of each other. */
  readonly group: string
  /** Whether it is for private transactions only. */
  readonly privateTransactions: boolean
  /** How many blocks of logs it accepts in one query, by the config; `undefined`: not known. */
  readonly maxLogBlocks: number | undefined
  /** Its share of the load, if the load is spread. 0: it is used if no other healthy one is left. */
  readonly weight: number
  /** The number of the newest block that it was seen to have; `undefined` until it responded with a credible one. */
  readonly head: () => number | undefined
  /** Call this when it responded with its newest block. @returns Whether that is credible. @see `createHeads` */
  readonly sawHead: (head: number) => boolean
  /** Call this for every attempt, when it has ended or was stopped: once for each call that was sent. */
  readonly observe: (outcome: CallOutcome) => void
}

/** The parts of a member that the group creates. */
export interface MemberParts extends Pick<
  GroupMember,
  | 'name'
  | 'urlHash'
  | 'upstream'
  | 'health'
  | 'finality'
  | 'budget'
  | 'disputes'
  | 'group'
  | 'capabilities'
  | 'head'
  | 'sawHead'
  | 'privateTransactions'
  | 'maxLogBlocks'
> {
  readonly weight: UpstreamOptions['weight']
}

/** Creates a member from its parts. */
export const createMember = ({ weight = 1, ...parts }: MemberParts): GroupMember => {
  const { capabilities } = parts
  const { backoff } = parts.upstream
  const latency = createLatency()
  const expensiveLatency = createLatency()
  const outcomes = createOutcomes()
  return {
    ...parts,
    backoff,
    latency,
    expensiveLatency,
    outcomes,
    weight,
    observe: (outcome) => {
      outcomes.add(outcome)
      const ofKind = isExpensive(outcome.method) ? expensiveLatency : latency
      if (isLatency(outcome, ofKind.average())) ofKind.add(outcome.latencyMs)
      backoff.learn(outcome)
      capabilities.learn(outcome)
    },
  }
}

/** Whether a latency belongs into the average: that of the result of a call, or of a call that was given up after a longer time. */
const isLatency = ({ method, kind, latencyMs }: CallOutcome, average: number | undefined): boolean => {
  if (method === 'batch') return false
  return kind === 'result' || ((kind === 'timeout' || kind === 'aborted') && latencyMs > (average ?? Infinity))
}

/** The state of an upstream. */
export interface UpstreamState {
  readonly network: Network
  /** Its name in the config. */
  readonly upstream: string
  /** Whether it is reachable, on the right chain, neither syncing nor behind the others, and its circuit breaker is closed. */
  readonly healthy: boolean
  readonly status: UpstreamStatus
  /** Why it is unreachable or on the wrong chain, such as `HTTP 401`; `null` if it is neither. */
  readonly reason: string | null
  /** Whether its circuit breaker is open, because its calls failed. */
  readonly breakerOpen: boolean
  /** Its newest block; `null` until it was queried. */
  readonly head: number | null
  /** How many blocks it is behind the highest head of the network; `null` until it was queried. */
  readonly lag: number | null
  /** Requests to it that have not ended. */
  readonly inFlight: number
  /** The moving average of its cheap calls in milliseconds; `null` before the first. */
  readonly latencyMs: number | null
  /** How many calls that it was sent ended in each way. Each call of a batch counts. */
  readonly outcomes: ReadonlyMap<CallOutcome['kind'], number>
  readonly durations: Durations
  /** The units that it was sent since the process started. */
  readonly units: number
  /** How many confirmed reads it was outvoted in. */
  readonly disputes: number
  /** Empty if it has no budget. */
  readonly budgets: readonly BudgetState[]
}

/**
 * The most important thing to know about an upstream now. `failing`: its circuit breaker is open. `throttled`: it rejects requests for their rate, and is
 * paused. `overBudget`: its budget has no room.
 */
export type UpstreamStatus = (typeof upstreamStatuses)[number]

/** All statuses. */
export const upstreamStatuses = [
  'healthy',
  'unreachable',
  'wrongChain',
  'failing',
  'syncing',
  'lagging',
  'throttled',
  'overBudget',
] as const

/** Gets the state of a member. */
export const getUpstreamState = (member: GroupMember, network: Network, highestHead: number): UpstreamState => {
  const { name, upstream, health, budget, latency, outcomes, disputes } = member
  const head = member.head()
  return {
    network,
    upstream: name,
    healthy: health.isHealthy(),
    status: getStatus(member),
    reason: health.reason() ?? null,
    breakerOpen: health.isBreakerOpen(),
    head: head ?? null,
    lag: head === undefined ? null : highestHead - head,
    inFlight: upstream.inFlight(),
    latencyMs: latency.average() ?? null,
    outcomes: outcomes.counts(),
    durations: outcomes.durations(),
    units: budget.sent.units.total,
    disputes: disputes.count(),
    budgets: budget.states(),
  }
}

const getStatus = ({ health, budget, backoff }: GroupMember): UpstreamStatus => {
  const status = health.status()
  // Without budget, it is not checked.
  if (budget.isUsedUp() && (status === 'healthy' || health.reason() === undefined)) return 'overBudget'
  if (status !== 'healthy') return status
  if (budget.isSecondUsedUp()) return 'overBudget'
  return backoff.isPaused() ? 'throttled' : 'healthy'
}
