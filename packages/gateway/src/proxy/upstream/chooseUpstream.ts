import { isExpensive } from '../method/createMethodPolicy.ts'
import type { Budget } from './health/createBudget.ts'
import type { NeededCall } from './health/createCapabilities.ts'
import type { GroupMember } from './groupMember.ts'
import type { LoadBalancing } from '../options/networkOptions.ts'

/** The requirements of calls for their upstream. */
export interface PickOptions {
  /** The calls that are sent together. @default one that any upstream may get, except for those for private transactions */
  readonly calls?: readonly NeededCall[] | undefined
  /** How many units they use in the budget of an upstream without weights of its own. @default 1 */
  readonly units?: number | undefined
  /** The caller's key. Its reads go to the upstream that took its last write, if that is recent. */
  readonly keyId?: string | undefined
  /** The owner of the caller's key. What an upstream said that it lacks may count for its own calls only. */
  readonly ownerId?: string | undefined
  /** Upstreams that must not be chosen, because they were tried already. */
  readonly tried?: readonly GroupMember[] | undefined
  /** The call can be retried on another upstream, so it may go to one whose circuit breaker is due for a trial. @default false */
  readonly mayBeTrial?: boolean | undefined
  /** Only an upstream whose last known head is at least this block may be chosen. */
  readonly minHead?: number | undefined
  /** The newest block that the caller has seen. Upstreams whose last known head is at least this block come first. */
  readonly seenHead?: number | undefined
}

/** How good an upstream is for a call. Lower is better. */
const ranks = {
  /** It has no known problem. */
  ready: 0,
  /** The same, but its weight is 0. */
  backup: 1,
  /** It is not known to have the newest block that the caller has seen. */
  behind: 2,
  /** It fails, lags, syncs, is throttled, or was often outvoted. */
  poor: 3,
  /** It probably lacks the method or the state. */
  incapable: 4,
  /** It must not get the call. */
  excluded: 5,
} as const

const anyUpstream: PickOptions = {}

/**
 * Chooses the upstream for a call. The upstreams are ranked:
 * 1. those without a known problem;
 * 2. the same with weight 0;
 * 3. those that are not known to have the newest block that the caller has seen;
 * 4. those that fail, lag, sync, are throttled, or were often outvoted;
 * 5. those that probably lack the method or the state.
 *
 * One that was tried, is unreachable or of the wrong chain, is below `minHead`, does not offer the method by the config, is for private
 * transactions although the call is none or the other way round, or has no budget left is never chosen. Among the best rank, the choice is by `loadBalancing`. `preferred` wins over others of its rank, as long as it has no known problem.
 * @param members - In the order of the config.
 * @param choice.preferred - The upstream that took the caller's last write.
 * @returns `undefined` if no upstream is left.
 */
export const chooseUpstream = (
  members: readonly GroupMember[],
  options: PickOptions = anyUpstream,
  { loadBalancing, preferred }: { loadBalancing: LoadBalancing; preferred?: GroupMember | undefined } = inOrder,
): GroupMember | undefined => {
  if (preferred !== undefined && getRank(preferred, options) <= ranks.backup) return preferred
  let best: GroupMember | undefined
  let bestRank: number = ranks.excluded
  let bestCost = Infinity
  let bestLoad = Infinity
  for (const member of members) {
    const rank = getRank(member, options)
    if (rank > bestRank || rank === ranks.excluded) continue
    if (loadBalancing === 'order') {
      if (rank === ranks.ready) return member
      if (rank === bestRank) continue
    } else {
      // A trial is due once in a while, and only a call can find out whether the upstream works again.
      if (rank === ranks.ready && !member.health.isHealthy()) return member
      const isForExpensive = options.calls?.some(({ method }) => isExpensive(method)) === true
      const cost = loadBalancing === 'cost' ? getCost(member, options, isForExpensive) : 0
      const load = getLoad(member, isForExpensive)
      if (rank === bestRank && (cost > bestCost || (cost === bestCost && load >= bestLoad))) continue
      bestCost = cost
      bestLoad = load
    }
    best = member
    bestRank = rank
  }
  return best
}

const inOrder = { loadBalancing: 'order' } as const

const getRank = (member: GroupMember, options: PickOptions): number => {
  const { health, backoff, disputes, weight } = member
  if (!health.isUsable() || !isAllowed(member, options)) return ranks.excluded
  if (!canServe(member, options)) return ranks.incapable
  const isReady = health.isHealthy() || (options.mayBeTrial === true && health.isTrialDue())
  if (!isReady || backoff.isPaused() || disputes.isDemoted()) return ranks.poor
  if (isBehind(member, options.seenHead)) return ranks.behind
  return weight === 0 ? ranks.backup : ranks.ready
}

/** Whether an upstream is not known to have a block. */
export const isBehind = (member: GroupMember, block: number | undefined): boolean =>
  block !== undefined && (member.head() ?? -1) < block

/** Whether the budget of an upstream has room for calls. */
export const hasRoom = ({ budget }: GroupMember, options: Pick<PickOptions, 'calls' | 'units'>): boolean =>
  budget.hasRoom(...getCharge(budget, options))

/** What calls are charged to a budget. */
const getCharge = (
  budget: Budget,
  { calls, units = 1 }: Pick<PickOptions, 'calls' | 'units'>,
): [requests: number, units: number] =>
  calls === undefined ? [1, units] : [calls.length, budget.getUnits(calls, units)]

/**
 * Gets room in the budgets of the upstreams that calls could go to.
 * @returns Resolves to whether one of them has room, and never rejects; `undefined`: none can get room by waiting.
 */
export const drawRoom = (members: readonly GroupMember[], options: PickOptions): Promise<boolean> | undefined => {
  const draws = members.flatMap((member) => {
    const { budget, health } = member
    if (!health.isUsable() || !mayGet(member, options)) return []
    const drawn = budget.draw(...getCharge(budget, options))
    return typeof drawn === 'boolean' ? [] : drawn
  })
  return draws.length === 0 ? undefined : findTrue(draws)
}

/** Whether one is true, awaited one after the other. */
const findTrue = async (all: readonly Promise<boolean>[]): Promise<boolean> => {
  for (const one of all) if (await one) return true
  return false
}

/** Whether a rule forbids that the upstream gets the call. */
const isAllowed = (member: GroupMember, options: PickOptions): boolean =>
  mayGet(member, options) && hasRoom(member, options)

/** Whether an upstream may get the call if its budget has room. */
const mayGet = (member: GroupMember, options: PickOptions): boolean => {
  const { tried, minHead, calls } = options
  if (tried?.includes(member) === true) return false
  if (isBehind(member, minHead)) return false
  return calls === undefined ? !member.privateTransactions : calls.every((call) => offers(member, call))
}

/** Whether an upstream may get a call by the config: one for private transactions gets these only, and no other upstream gets them. */
export const offers = (
  { capabilities, privateTransactions }: GroupMember,
  { method, isPrivate = false }: NeededCall,
): boolean => isPrivate === privateTransactions && capabilities.offers(method)

const canServe = ({ capabilities }: GroupMember, { calls, ownerId }: PickOptions): boolean =>
  calls === undefined || calls.every((call) => capabilities.canServe(call, ownerId))

/** More than any call costs. */
const busyCost = 1e12

/** What calls cost at an upstream. Those that are busy cost more than all others. */
const getCost = (member: GroupMember, options: PickOptions, isForExpensive: boolean): number => {
  const { budget, upstream, latency, expensiveLatency } = member
  const cost = getCharge(budget, options)[1] * budget.unitPrice
  const isBusy = upstream.isFull() || (isForExpensive ? expensiveLatency : latency).isHigh()
  return isBusy ? busyCost + cost : cost
}

/** How much longer a call would take here than elsewhere. An upstream that has no latency yet is tried. */
const getLoad = ({ upstream, latency, expensiveLatency, weight }: GroupMember, isForExpensive: boolean): number => {
  const average = (isForExpensive ? expensiveLatency.average() : undefined) ?? latency.average() ?? 0
  return ((upstream.inFlight() + 1) * average) / (weight === 0 ? 1 : weight)
}
