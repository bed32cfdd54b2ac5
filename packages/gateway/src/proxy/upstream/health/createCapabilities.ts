import { monotonicClock } from '../../../lib/clock.ts'
import { methods } from '../../../lib/methods.ts'
import { isDevelopmentMethod } from '../../method/createMethodPolicy.ts'
import { toHex } from '../../../lib/rpc/quantity.ts'
import { getStateBlock } from './getStateBlock.ts'
import type { CallOutcome } from './callOutcome.ts'
import type { UpstreamOptions } from '../../options/upstreamOptions.ts'

/** The operator's settings for a node. */
export type CapabilityOptions = Partial<
  Pick<
    UpstreamOptions,
    'debug' | 'trace' | 'txpool' | 'allowMethods' | 'denyMethods' | 'earliestState' | 'recentStateBlocks'
  >
>

/** A call, as far as a node's capabilities depend on it. */
export interface NeededCall {
  readonly method: string
  /** Source text. */
  readonly params?: string | undefined
  /** Whether it has a private transaction. @default false */
  readonly isPrivate?: boolean | undefined
}

/** The capabilities of a node. */
export interface Capabilities {
  /** Whether the operator lets the node have the method. */
  readonly offers: (method: string) => boolean
  /** Whether the node can probably respond: it has the state that the call reads, and has not recently reported that the method or that state is missing. */
  readonly canServe: (call: NeededCall, ownerId?: string) => boolean
  /** Learns from how an attempt ended. */
  readonly learn: (outcome: Pick<CallOutcome, 'method' | 'params' | 'kind' | 'ownerId'>) => void
}

/** How long a reported missing capability is remembered. The node may be upgraded, or may sync older blocks. */
const rememberMs = 600_000
/** How often a node is tested for state that it lacked. */
const testMs = 60_000
/** The reports of two owners are enough, so those of more are not worth their memory. */
const maxOwners = 100
/** The depth at which a node lacks a method: any. */
const anyDepth = -Infinity

/** What a node said to the calls of one method. */
interface Reports {
  /** By the owner of the calls: how far behind its head the node lacked state, and until when that is remembered. */
  readonly byOwner: Map<string, { depth: number; until: number }>
  testedAt: number
  /** How far behind its head the last test found state, if no call has shown since then whether it is all that the method needs. */
  foundDepth: number | undefined
}

/** A read that shows if a node has what it lacked. */
export interface StateTest {
  readonly method: string
  /** Source text. */
  readonly params: string
}

const zeroAddress = `"0x${'0'.repeat(40)}"`

/** Creates the cheap read that represents a method at a block; `undefined` if there is none. */
const toStateTest = (method: string, block: number): StateTest | undefined => {
  if (!method.startsWith('eth_')) return undefined
  const at = `"${toHex(block)}"`
  // Many nodes have proofs of fewer blocks than state.
  return method === 'eth_getProof'
    ? { method, params: `[${zeroAddress},[],${at}]` }
    : { method: 'eth_getBalance', params: `[${zeroAddress},${at}]` }
}

/** Creates the memory of what a node said that it lacks. */
const createReports = (now: () => number) => {
  /** By method. Only known methods, whose number is bounded. */
  const reports = new Map<string, Reports>()

  /** How far behind the node's head an owner's call of a method may read state; `anyDepth` if the node lacks the method. */
  const getMissingDepth = (method: string, ownerId: string | undefined): number => {
    const byOwner = reports.get(method)?.byOwner
    if (byOwner === undefined) return Infinity
    const time = now()
    let own = Infinity
    let lowest = Infinity
    let second = Infinity
    for (const [owner, { depth, until }] of byOwner) {
      if (time >= until) {
        byOwner.delete(owner)
        continue
      }
      if (owner === ownerId) own = depth
      second = Math.min(second, Math.max(lowest, depth))
      lowest = Math.min(lowest, depth)
    }
    if (byOwner.size === 0) reports.delete(method)
    return Math.min(own, second)
  }
  const report = (method: string, ownerId: string, depth: number): void => {
    let known = reports.get(method)
    if (known === undefined)
      reports.set(method, (known = { byOwner: new Map(), testedAt: -Infinity, foundDepth: undefined }))
    const { byOwner } = known
    known.foundDepth = undefined
    const [oldest] = byOwner.keys()
    if (byOwner.size >= maxOwners && !byOwner.has(ownerId) && oldest !== undefined) byOwner.delete(oldest)
    byOwner.set(ownerId, { depth: Math.min(depth, byOwner.get(ownerId)?.depth ?? Infinity), until: now() + rememberMs })
  }
  /** The node has the method, and state at this depth, so the missing state is at least one block older. */
  const reportResult = (method: string, depth: number | undefined): void => {
    const byOwner = reports.get(method)?.byOwner
    if (byOwner === undefined) return
    for (const [owner, one] of byOwner) {
      if (one.depth === anyDepth) byOwner.delete(owner)
      else if (depth !== undefined && depth >= one.depth) one.depth = depth + 1
    }
    if (byOwner.size === 0) reports.delete(method)
  }
  return {
    get: (method: string): Reports | undefined => reports.get(method),
    isEmpty: (): boolean => reports.size === 0,
    getMissingDepth,
    add: report,
    addResult: reportResult,
  }
}

/**
 * Creates the capabilities of an upstream: those of the config, and those that its responses show.
 *
 * What it lacks is learned for each method, and with it how far behind its head. A report counts for the calls of the owner who caused it, because
 * calls can be made to fail; once a second owner gets one too, it counts for all. A node that is skipped for state that it lacked is tested by a cheap
 * read.
 * @param options.head - The newest block of the node, if known. Learned limits of its state are relative to it, because most nodes have the
 * state of a certain number of recent blocks.
 * @param options.testState - Sends a read to the node. Resolves to whether it has the state; `undefined`: it said neither.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createCapabilities = (
  {
    debug = true,
    trace = true,
    txpool = true,
    allowMethods,
    denyMethods,
    earliestState = 0,
    recentStateBlocks,
  }: CapabilityOptions,
  {
    head,
    testState,
    now = monotonicClock(),
  }: {
    head: () => number | undefined
    testState: (test: StateTest) => Promise<boolean | undefined>
    now?: () => number
  },
): Capabilities => {
  const allowed = allowMethods === undefined ? undefined : new Set(allowMethods)
  const denied = new Set(denyMethods)
  const services = { debug, trace, txpool, always: true, development: true }
  // Most nodes do, and each call checks it.
  const hasAllServices = debug && trace && txpool
  const reports = createReports(now)
  const test = async (method: string, depth: number): Promise<void> => {
    const known = reports.get(method)
    const newest = head()
    const time = now()
    if (known === undefined || newest === undefined || time - known.testedAt < testMs) return
    const read = toStateTest(method, Math.max(newest - depth, 0))
    if (read === undefined) return
    known.testedAt = time
    const hasState = await testState(read)
    if (hasState === true) {
      reports.addResult(method, depth)
      known.foundDepth = depth
    } else if (hasState === false) for (const one of known.byOwner.values()) one.until = now() + rememberMs
  }
  /** How far behind the node's head the state is that a call reads; `undefined` if it reads none or the head is unknown. */
  const getDepth = (block: number | undefined): number | undefined => {
    const newest = head()
    return block === undefined || newest === undefined ? undefined : newest - block
  }
  const lacks = ({ method, params }: NeededCall, ownerId: string | undefined): boolean => {
    const missingDepth = reports.isEmpty() ? Infinity : reports.getMissingDepth(method, ownerId)
    if (missingDepth === anyDepth) return true
    if (earliestState === 0 && recentStateBlocks === undefined && missingDepth === Infinity) return false
    const block = getStateBlock(method, params)
    if (block === undefined) return false
    const depth = getDepth(block) ?? 0
    if (block < earliestState || depth >= (recentStateBlocks ?? Infinity)) return true
    if (depth < missingDepth) return false
    void test(method, depth)
    return true
  }

  return {
    offers: (method) =>
      !denied.has(method) &&
      (allowed === undefined || allowed.has(method)) &&
      (hasAllServices || services[methods.get(method)?.service ?? 'always']),
    canServe: (call, ownerId) => !lacks(call, ownerId),
    learn: ({ method, params, kind, ownerId }) => {
      if (kind === 'result') {
        const known = reports.get(method)
        if (known === undefined) return
        const depth = getDepth(getStateBlock(method, params))
        reports.addResult(method, depth)
        // It may have got all state, so the next call for older state need not wait.
        if (depth !== undefined && depth >= (known.foundDepth ?? Infinity)) known.testedAt = -Infinity
      } else if (kind === 'methodUnavailable') {
        // Callers choose the names of these, and a batch has none.
        if (method.includes('_') && !isDevelopmentMethod(method)) reports.add(method, ownerId, anyDepth)
      } else if (kind === 'missingData') {
        const depth = getDepth(getStateBlock(method, params))
        if (depth !== undefined && depth >= 0) reports.add(method, ownerId, depth)
      }
    },
  }
}
