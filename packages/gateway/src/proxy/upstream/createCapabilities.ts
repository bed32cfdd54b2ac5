import { monotonicClock } from '../../lib/clock.ts'
import { isWeightedMethod } from '../method/weights.ts'
import { getStateBlock } from './getStateBlock.ts'
import type { CallOutcome } from './callOutcome.ts'

/** The operator's settings for a node. */
export interface CapabilityOptions {
  /** Whether the node offers `debug_` methods, if the service does. @default true */
  readonly debug?: boolean | undefined
  /** Whether the node offers `trace_` methods, if the service does. @default true */
  readonly trace?: boolean | undefined
  /** Whether the node offers `txpool_` methods, if the service does. @default true */
  readonly txpool?: boolean | undefined
  /** The only methods that the node gets. @default all that the service offers */
  readonly allowMethods?: readonly string[] | undefined
  /** Methods that the node never gets. @default none */
  readonly denyMethods?: readonly string[] | undefined
  /** The first block whose state the node has. @default 0: all */
  readonly earliestState?: number | undefined
  /** How many of the newest blocks the node has the state of. @default all */
  readonly recentStateBlocks?: number | undefined
}

/** A call of a batch, as far as a node's capabilities depend on it. */
export interface NeededCall {
  readonly method: string
  /** Source text. */
  readonly params?: string | undefined
}

/** The capabilities of a node. */
export interface Capabilities {
  /** Whether the operator lets the node have the method. */
  readonly offers: (method: string) => boolean
  /** Whether the node can probably respond: it has the state that the call reads, and has not recently reported that the method or that state is missing. */
  readonly canServe: (method: string, params?: string) => boolean
  /** Learns from how an attempt ended. */
  readonly learn: (outcome: Pick<CallOutcome, 'method' | 'params' | 'kind'>) => void
}

/** How long a reported missing capability is remembered. The node may be upgraded, or may sync older blocks. */
const rememberMs = 600_000

/**
 * Creates the capabilities of an upstream: those of the config, and those that its responses show.
 * @param options.head - The newest block of the node, if known. Learned limits of its state are relative to it, because most nodes have the
 * state of a certain number of recent blocks.
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
  { head, now = monotonicClock() }: { head: () => number | undefined; now?: () => number },
): Capabilities => {
  const allowed = allowMethods === undefined ? undefined : new Set(allowMethods)
  const denied = new Set(denyMethods)
  /** The methods that the node said it does not have, and until when that is remembered. */
  const missingMethods = new Map<string, number>()
  /** How far behind its head the node lacked state. */
  let missingDepth = Infinity
  let missingDepthUntil = 0

  const lacksMethod = (method: string): boolean => {
    if (missingMethods.size === 0) return false
    const until = missingMethods.get(method)
    if (until === undefined) return false
    if (now() < until) return true
    missingMethods.delete(method)
    return false
  }
  /** How far behind the node's head the state is that a call reads; `undefined` if it reads none or the head is unknown. */
  const getDepth = (block: number | undefined): number | undefined => {
    const newest = head()
    return block === undefined || newest === undefined ? undefined : newest - block
  }
  const lacksState = (method: string, params: string | undefined): boolean => {
    if (missingDepth !== Infinity && now() >= missingDepthUntil) missingDepth = Infinity
    if (earliestState === 0 && recentStateBlocks === undefined && missingDepth === Infinity) return false
    const block = getStateBlock(method, params)
    if (block === undefined) return false
    const depth = getDepth(block) ?? 0
    return block < earliestState || depth >= (recentStateBlocks ?? Infinity) || depth >= missingDepth
  }

  return {
    offers: (method) =>
      !denied.has(method) &&
      (allowed === undefined || allowed.has(method)) &&
      (debug || !method.startsWith('debug_')) &&
      (trace || !method.startsWith('trace_')) &&
      (txpool || !method.startsWith('txpool_')),
    canServe: (method, params) => !lacksMethod(method) && !lacksState(method, params),
    learn: ({ method, params, kind }) => {
      if (kind === 'result') {
        if (missingMethods.size > 0) missingMethods.delete(method)
        if (missingDepth === Infinity) return
        const depth = getDepth(getStateBlock(method, params))
        // The node has this state, so the missing state is at least one block older.
        if (depth !== undefined && depth >= missingDepth) missingDepth = depth + 1
      } else if (kind === 'methodUnavailable') {
        // Only known methods, whose number is bounded.
        if (isWeightedMethod(method)) missingMethods.set(method, now() + rememberMs)
      } else if (kind === 'missingData') {
        const depth = getDepth(getStateBlock(method, params))
        if (depth === undefined || depth < 0) return
        missingDepth = Math.min(missingDepth, depth)
        missingDepthUntil = now() + rememberMs
      }
    },
  }
}
