import { checkInteger, describeValue, invalidInput } from '../invalidInput.ts'
import type { Fault, FaultKind, FaultOptions, FaultResponse } from './fault.ts'
import { checkProvider, providers } from './providers.ts'

/** The scheduled faults. */
export interface FaultPlan {
  /** @returns a function that cancels the fault. */
  readonly add: (kind: Fault['kind'], options: FaultOptions) => () => void
  /** Returns the fault of a call, if any, and counts it as used. */
  readonly take: (method: string, inBatch: boolean) => Fault | undefined
  readonly clear: () => void
}

/** Kinds that need more than an error response of a provider. */
const specialKinds: readonly FaultKind[] = [
  'network',
  'badResponse',
  'unconfirmed',
  'hang',
  'slow',
  'truncated',
  'empty',
  'htmlPage',
  'wrongId',
  'stringId',
  'nullId',
  'missingId',
  'duplicateId',
  'missingResponse',
  'shuffled',
  'laggingHead',
  'wrongChain',
]
const batchKinds: readonly unknown[] = [
  'batchTooLarge',
  'shuffled',
  'missingResponse',
  'duplicateId',
] satisfies FaultKind[]

/** The methods that a kind applies to unless `method` is set. */
const defaultMethods: Readonly<Partial<Record<string, readonly string[]>>> = {
  range: ['eth_getLogs'],
  revert: ['eth_call', 'eth_estimateGas'],
  txKnown: ['eth_sendRawTransaction'],
  txRejected: ['eth_sendRawTransaction'],
  unconfirmed: ['eth_sendRawTransaction', 'eth_getTransactionByHash'],
  wrongChain: ['eth_chainId', 'net_version'],
}

function checkKind(kind: Fault['kind']): void {
  if (typeof kind !== 'string') {
    const { status } = Object(kind) as Partial<FaultResponse>
    if (!Number.isSafeInteger(status))
      throw invalidInput(`The status of the response is ${describeValue(status)}. Use an HTTP status such as 503`)
    return
  }
  if (kind === ('aborted' as FaultKind))
    throw invalidInput('fail cannot simulate "aborted". Abort the signal of the call')
  if (specialKinds.includes(kind) || Object.hasOwn(providers.node.errors, kind)) return
  const known = [...Object.keys(providers.node.errors), ...specialKinds]
  throw invalidInput(`Unknown fault ${describeValue(kind)}. Use one of ${known.join(', ')}, or { status, body }`)
}

/** Stores the faults that a test scheduled, in order. */
export function createFaultPlan(): FaultPlan {
  const plan: { fault: Fault; methods: readonly string[] | undefined; skip: number; left: number }[] = []

  return {
    add(kind, options) {
      const { method, times = 1, after = 0, provider } = options
      checkKind(kind)
      if (times !== Infinity) checkInteger('times', times, 1)
      if (after !== Infinity) checkInteger('after', after, 0)
      if (provider !== undefined) checkProvider(provider)
      const methods =
        method === undefined
          ? defaultMethods[typeof kind === 'string' ? kind : '']
          : typeof method === 'string'
            ? [method]
            : method
      const entry = { fault: { kind, options }, methods, skip: after, left: times }
      // The lost transaction stays lost, however often the client looks it up.
      if (kind === 'unconfirmed' && options.times === undefined) entry.left = Infinity
      plan.push(entry)
      return () => {
        entry.left = 0
      }
    },
    take(method, inBatch) {
      for (const entry of plan) {
        if (entry.left === 0 || (entry.methods !== undefined && !entry.methods.includes(method))) continue
        if (!inBatch && batchKinds.includes(entry.fault.kind)) continue
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
