import { refused } from '../refused.ts'
import type { Fault, FaultAnswer, FaultKind, FaultOptions, Misbehaviour } from './fault.ts'
import { checkPersonality, dialects } from './dialects.ts'

/** The faults that are still to come. */
export interface FaultPlan {
  /** @returns what takes it back. */
  readonly add: (kind: Fault['kind'], options: FaultOptions) => () => void
  /** The fault of a call, which is then one fewer to come. */
  readonly take: (method: string, inBatch: boolean) => Fault | undefined
  readonly clear: () => void
}

const misbehaviours: readonly Misbehaviour[] = [
  'hang',
  'slow',
  'truncated',
  'empty',
  'htmlPage',
  'wrongId',
  'stringId',
  'nullId',
  'missingId',
  'doubledId',
  'missing',
  'shuffled',
  'laggingHead',
  'wrongChain',
]
/** Kinds that no dialect words, because they are more than an answer. */
const unworded: readonly FaultKind[] = ['network', 'badResponse', 'unconfirmed']
const onlyInBatches: readonly unknown[] = ['batchTooLarge', 'shuffled', 'missing', 'doubledId'] satisfies (
  | FaultKind
  | Misbehaviour
)[]

/** What a fault is about where it does not say: the methods at which it makes sense. */
const usualMethods: Readonly<Partial<Record<string, readonly string[]>>> = {
  range: ['eth_getLogs'],
  revert: ['eth_call', 'eth_estimateGas'],
  txKnown: ['eth_sendRawTransaction'],
  txRejected: ['eth_sendRawTransaction'],
  unconfirmed: ['eth_sendRawTransaction', 'eth_getTransactionByHash'],
  wrongChain: ['eth_chainId', 'net_version'],
}

function check(kind: Fault['kind'], { times = 1, after = 0, personality }: FaultOptions): void {
  const isCount = (value: number, least: number): boolean =>
    value === Infinity || (Number.isSafeInteger(value) && value >= least)
  if (kind === ('aborted' as FaultKind)) throw refused('nodes do not abort: abort the signal of the call')
  if (typeof kind === 'string') {
    const known =
      (misbehaviours as readonly string[]).includes(kind) ||
      unworded.includes(kind as FaultKind) ||
      Object.hasOwn(dialects.node.answers, kind)
    if (!known)
      throw refused(`fail takes a kind of failure, ${misbehaviours.join(', ')}, or an answer, and not ${kind}`)
  } else if (!Number.isSafeInteger((kind as FaultAnswer | null)?.status))
    throw refused('an answer to fail with has a status')
  if (!isCount(times, 1)) throw refused('times must be a whole number from 1, or Infinity')
  if (!isCount(after, 0)) throw refused('after must be a whole number from 0')
  if (personality !== undefined) checkPersonality(personality)
}

/** Keeps what a test wants to fail, in the order in which it said so. */
export function createFaultPlan(): FaultPlan {
  const plan: { fault: Fault; methods: readonly string[] | undefined; skip: number; left: number }[] = []

  return {
    add(kind, options) {
      check(kind, options)
      const { method } = options
      const named =
        method === undefined
          ? usualMethods[typeof kind === 'string' ? kind : '']
          : typeof method === 'string'
            ? [method]
            : method
      const entry = { fault: { kind, options }, methods: named, skip: options.after ?? 0, left: options.times ?? 1 }
      // Where its transaction is looked up, it is nowhere, for as long as anybody asks.
      if (kind === 'unconfirmed' && options.times === undefined) entry.left = Infinity
      plan.push(entry)
      return () => {
        entry.left = 0
      }
    },
    take(method, inBatch) {
      for (const entry of plan) {
        if (entry.left === 0 || (entry.methods !== undefined && !entry.methods.includes(method))) continue
        if (!inBatch && onlyInBatches.includes(entry.fault.kind)) continue
        if (entry.skip > 0) {
          entry.skip--
          continue
        }
        entry.left--
        return entry.fault
      }
      return undefined
    },
    clear: () => void plan.splice(0),
  }
}
