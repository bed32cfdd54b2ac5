import { expect, test } from 'vitest'
import { chooseUpstream } from './chooseUpstream.ts'
import type { PickOptions } from './chooseUpstream.ts'
import type { LoadBalancing } from '../options/networkOptions.ts'
import { createBackoff } from './health/createBackoff.ts'
import { createBudget } from './health/createBudget.ts'
import { createCapabilities } from './health/createCapabilities.ts'
import { createDisputes } from './health/createDisputes.ts'
import { createLatency } from './health/createLatency.ts'
import { createOutcomes } from './health/createOutcomes.ts'
import type { GroupMember } from './groupMember.ts'

/** The properties of a member, parsed from its description. */
interface Facts {
  readonly name: string
  readonly health: 'healthy' | 'trialDue' | 'usable' | 'down'
  readonly inFlight: number
  readonly latencyMs: number | undefined
  readonly expensiveMs: number | undefined
  readonly slow: boolean
  readonly weight: number
  readonly unitPrice: number
  readonly paused: boolean
  readonly outvoted: boolean
  readonly overBudget: boolean
  readonly denies: string | undefined
  readonly lacks: string | undefined
  readonly isPrivate: boolean
}

/** Parses a description such as `usable 3fly 20ms 2w paused overBudget denies:eth_call lacks:eth_call`. */
const parseFacts = (name: string, text: string): Facts => {
  const words = text.split(' ')
  const find = (pattern: RegExp): string | undefined => words.map((word) => pattern.exec(word)?.[1]).find(Boolean)
  return {
    name,
    health: (words.find((word) => ['trialDue', 'usable', 'down'].includes(word)) as 'down' | undefined) ?? 'healthy',
    inFlight: Number(find(/^(\d+)fly$/) ?? 0),
    latencyMs: find(/^(\d+)ms$/) === undefined ? undefined : Number(find(/^(\d+)ms$/)),
    expensiveMs: find(/^(\d+)msExpensive$/) === undefined ? undefined : Number(find(/^(\d+)msExpensive$/)),
    slow: words.includes('slow'),
    weight: Number(find(/^([\d.]+)w$/) ?? 1),
    unitPrice: Number(find(/^([\d.]+)\$$/) ?? 0),
    paused: words.includes('paused'),
    outvoted: words.includes('outvoted'),
    overBudget: words.includes('overBudget'),
    denies: find(/^denies:(.+)$/),
    lacks: find(/^lacks:(.+)$/),
    isPrivate: words.includes('private'),
  }
}

const createMember = (facts: Facts): GroupMember => {
  const { name, health } = facts
  const backoff = createBackoff()
  if (facts.paused) backoff.learn({ kind: 'throttled' })
  const disputes = createDisputes()
  for (let times = 0; facts.outvoted && times < 3; times += 1) disputes.add()
  const budget = createBudget({ maxRequestsPerDay: 10, maxUnitsPerDay: 10, unitPrice: facts.unitPrice })
  if (facts.overBudget) budget.charge(10, 10)
  const latency = createLatency()
  if (facts.latencyMs !== undefined) latency.add(facts.latencyMs)
  // Slower than usual.
  for (let call = 0; facts.slow && call < 50; call += 1) latency.add(100)
  const expensiveLatency = createLatency()
  if (facts.expensiveMs !== undefined) expensiveLatency.add(facts.expensiveMs)
  const head = (): number | undefined => (name === 'a' ? undefined : 'abc'.indexOf(name))
  const capabilities = createCapabilities(facts.denies === undefined ? {} : { denyMethods: [facts.denies] }, {
    head,
    testState: async () => undefined,
  })
  if (facts.lacks !== undefined)
    for (const ownerId of ['one', 'other'])
      capabilities.learn({ method: facts.lacks, kind: 'methodUnavailable', ownerId })
  return {
    name,
    urlHash: name,
    upstream: { inFlight: () => facts.inFlight, isFull: () => facts.inFlight >= 128 } as GroupMember['upstream'],
    finality: undefined as never,
    health: {
      isUsable: () => health !== 'down',
      isHealthy: () => health === 'healthy',
      isTrialDue: () => health === 'trialDue',
    } as GroupMember['health'],
    backoff,
    budget,
    capabilities,
    latency,
    expensiveLatency,
    outcomes: createOutcomes(),
    disputes,
    group: name,
    weight: facts.weight,
    maxLogBlocks: undefined,
    privateTransactions: facts.isPrivate,
    head,
    sawHead: () => true,
    observe: () => {},
  }
}

type Row = [chosen: string | undefined, members: string, options?: Options]
interface Options extends Omit<PickOptions, 'tried'> {
  readonly tried?: string
  readonly preferred?: string
}

/** Chooses among members named a, b, c, described by a text with a `|` between them. */
const choose = (loadBalancing: LoadBalancing, text: string, { tried = '', preferred, ...options }: Options = {}) => {
  const members = text.split(' | ').map((one, index) => createMember(parseFacts('abc'[index] ?? '', one)))
  const triedMembers = members.filter(({ name }) => tried.includes(name))
  return chooseUpstream(
    members,
    { ...options, tried: triedMembers },
    { loadBalancing, preferred: members.find(({ name }) => name === preferred) },
  )?.name
}

const call = { method: 'eth_call' }
const alone = { calls: [call] }

/** The same with all ways of load balancing. */
const always: readonly Row[] = [
  ['a', 'healthy | healthy'],
  ['b', 'healthy | healthy', { tried: 'a' }],
  ['b', 'usable | healthy'],
  ['a', 'usable | usable'],
  ['b', 'down | usable'],
  ['b', 'trialDue | healthy'],
  ['a', 'trialDue | healthy', { mayBeTrial: true }],
  ['b', 'trialDue | healthy', { mayBeTrial: true, tried: 'a' }],
  ['a', 'trialDue | down'],
  [undefined, 'healthy', { tried: 'a' }],
  [undefined, 'down | down'],
  // A head that must be known: that of a is not.
  ['b', 'healthy | healthy', { minHead: 1 }],
  ['c', 'healthy | healthy | healthy', { minHead: 2 }],
  ['c', 'healthy | down | usable', { minHead: 1 }],
  [undefined, 'healthy | healthy', { minHead: 2 }],
  // A head that the caller has seen: nodes that have it come before others that work.
  ['b', 'healthy | healthy', { seenHead: 1 }],
  ['a', 'healthy | healthy', { seenHead: 2 }],
  ['a', 'healthy | usable', { seenHead: 1 }],
  ['c', 'healthy | healthy | 0w', { seenHead: 2 }],
  ['b', 'lacks:eth_call | healthy', { ...alone, seenHead: 2 }],
  ['b', 'healthy | healthy', { seenHead: 1, preferred: 'a' }],
  // Private transactions.
  ['b', 'healthy | private', { calls: [{ ...call, isPrivate: true }] }],
  ['b', 'private | healthy', { calls: [{ ...call, isPrivate: false }] }],
  ['b', 'private | healthy', alone],
  ['b', 'private | healthy'],
  ['b', 'private | healthy', { ...alone, preferred: 'a' }],
  [undefined, 'private | healthy', { calls: [call, { ...call, isPrivate: true }] }],
  [undefined, 'healthy', { calls: [{ ...call, isPrivate: true }] }],
  [undefined, 'private', { ...alone, preferred: 'a' }],
  // Throttled, and over budget.
  ['b', 'paused | healthy'],
  ['a', 'paused | paused'],
  ['b', 'outvoted | healthy'],
  ['a', 'outvoted | outvoted'],
  ['b', 'down | outvoted'],
  ['b', 'overBudget | healthy'],
  ['b', 'overBudget | usable'],
  [undefined, 'overBudget'],
  [undefined, 'healthy', { units: 11 }],
  [undefined, 'healthy', { calls: Array.from({ length: 11 }, () => call), units: 1 }],
  // Methods.
  ['b', 'denies:eth_call | healthy', alone],
  ['b', 'denies:eth_call | usable', alone],
  [undefined, 'denies:eth_call', alone],
  ['b', 'denies:eth_call | healthy', { calls: [{ method: 'eth_chainId' }, call] }],
  ['a', 'denies:eth_call | healthy', { calls: [{ method: 'eth_chainId' }] }],
  ['b', 'lacks:eth_call | healthy', alone],
  ['b', 'lacks:eth_call | usable', alone],
  ['a', 'lacks:eth_call', alone],
  ['a', 'lacks:eth_call | healthy', { calls: [{ method: 'eth_chainId' }] }],
  ['b', 'lacks:eth_call | healthy', { calls: [call] }],
  // The node that took the caller's last write.
  ['b', 'healthy | healthy', { preferred: 'b' }],
  ['a', 'healthy | usable', { preferred: 'b' }],
  ['a', 'healthy | paused', { preferred: 'b' }],
  ['a', 'healthy | lacks:eth_call', { ...alone, preferred: 'b' }],
  ['a', 'healthy | healthy', { tried: 'b', preferred: 'b' }],
]
test.each(always)('in order, chooses %s of %s for %j', (chosen, members, options) => {
  expect(choose('order', members, options)).toBe(chosen)
})
test.each(always)('spread and cost, choose %s of equally loaded %s for %j', (chosen, members, options) => {
  expect(choose('spread', members, options)).toBe(chosen)
  expect(choose('cost', members, options)).toBe(chosen)
})

test.each<Row>([
  ['a', '9fly | healthy'],
  ['a', '900ms | 1ms'],
])('in order, ignores the load: chooses %s of %s', (chosen, members) => {
  expect(choose('order', members)).toBe(chosen)
})

test.each<Row>([
  ['b', '1fly 10ms | 10ms'],
  ['b', '20ms | 10ms'],
  // (1 + 1) × 10 is less than 30.
  ['a', '1fly 10ms | 30ms'],
  ['b', '3fly 10ms | 30ms'],
  ['c', '2fly 10ms | 1fly 20ms | 29ms'],
  // Twice the weight is half the load.
  ['b', '10ms | 10ms 2w'],
  ['a', '10ms | 10ms 0.5w'],
  ['b', '2fly 10ms 2w | 10ms 1w'],
  // Without a latency it is tried.
  ['b', '1ms | healthy'],
  // Weight 0 is a backup: after all healthy ones, before the others.
  ['b', '1ms 0w | 900ms'],
  ['a', '1ms 0w | 1ms usable'],
  ['b', '9fly 9ms 0w | 9ms 0w'],
  // The load decides among those of the best rank only.
  ['b', '1ms usable | 99fly 900ms'],
  ['b', '99fly 9ms usable | 1ms usable'],
  // A trial comes first at any load.
  ['b', '1ms | 99fly 900ms trialDue', { mayBeTrial: true }],
  ['b', '1ms | 900ms', { preferred: 'b' }],
])('spread, chooses the lowest load: %s of %s', (chosen, members, options) => {
  expect(choose('spread', members, options)).toBe(chosen)
})

test.each<Row>([
  // An expensive call takes the node whose expensive calls are fast.
  ['b', '10ms 900msExpensive | 20ms 100msExpensive', { calls: [{ method: 'eth_getLogs' }] }],
  ['a', '10ms 900msExpensive | 20ms 100msExpensive', alone],
  ['a', '10ms | 20ms', { calls: [{ method: 'eth_getLogs' }] }],
])('spread, knows the latency of expensive calls: %s of %s', (chosen, members, options) => {
  expect(choose('spread', members, options)).toBe(chosen)
})

test.each<Row>([
  ['b', '5ms 2$ | 50ms 0$'],
  ['b', '3$ | 2$ | 4$'],
  // Among those that cost the same, the load decides.
  ['b', '20ms 0$ | 10ms 0$ | 5ms 1$'],
  // A node of one's own that is busy.
  ['c', '10ms slow | 3$ | 2$'],
  ['b', '128fly 10ms | 2$'],
  ['b', '10ms 127fly 2$ | 10ms 127fly'],
  ['a', '10ms slow | 2$ overBudget'],
  ['a', '10ms slow | 10ms slow 2$'],
  ['b', '10ms slow 2$ | 10ms 3$'],
  ['b', 'usable | 2$'],
  ['a', '2$ | 0w'],
  ['a', '2$ | 0$', { preferred: 'a' }],
])('cost, chooses the cheapest that is not busy: %s of %s', (chosen, members, options) => {
  expect(choose('cost', members, options)).toBe(chosen)
})
