import { isKeyrailError } from '@keyrail/core'
import { getSoakResult } from './soakResult.ts'
import type { SoakCall } from './soakCall.ts'

/** The outcome of one call. */
export type SoakOutcome =
  | { readonly status: 'fulfilled'; readonly value: unknown }
  | { readonly status: 'rejected'; readonly reason: unknown }

/** The outcomes of the calls of a soak test. */
export interface SoakTally {
  /** How often each call completed; must be once. */
  readonly completed: Uint8Array
  /** 1 for each call that succeeded. */
  readonly succeeded: Uint8Array
  /** The number of failures by kind. Calls that failed with the reason of their own abort count as `own reason`. */
  readonly failures: Record<string, number>
  /** Results and failures that belong to another call. */
  crossed: number
  /** Failures that are neither a `KeyrailError` nor the caller's own reason. */
  nameless: number
  /** The first problems, as text. */
  readonly samples: string[]
  /** Adds a problem to `samples`, up to 20. */
  readonly report: (text: string) => void
  /** Records the end of a call. `ownReason` is the reason of its abort, if it can be aborted. */
  readonly end: (index: number, call: SoakCall, outcome: SoakOutcome, ownReason?: object) => void
}

const MAX_SAMPLES = 20

/** Creates a tally for a number of calls. Its memory is allocated now, so that it does not look like a leak later. */
export function createTally(calls: number): SoakTally {
  const tally: SoakTally = {
    completed: new Uint8Array(calls),
    succeeded: new Uint8Array(calls),
    failures: {},
    crossed: 0,
    nameless: 0,
    samples: [],
    report: (text) => {
      if (tally.samples.length < MAX_SAMPLES) tally.samples.push(text)
    },
    end: (index, call, outcome, ownReason) => {
      tally.completed[index] = (tally.completed[index] as number) + 1
      if (outcome.status === 'rejected') return failed(index, call, outcome.reason, ownReason)
      const { value } = outcome
      tally.succeeded[index] = 1
      if (JSON.stringify(value) !== JSON.stringify(getSoakResult(call.args))) {
        tally.crossed++
        tally.report(`${call.args.method} ${index} got ${JSON.stringify(value)}`)
      }
      // Changes the result: if another call gets the same object, its check fails.
      if (Object(value) === value) Object.assign(value as object, { changedBy: index })
    },
  }
  const count = (kind: string): void => {
    tally.failures[kind] = (tally.failures[kind] ?? 0) + 1
  }
  const failed = (index: number, { args }: SoakCall, reason: unknown, ownReason?: object): void => {
    if (ownReason && reason === ownReason) return count('own reason')
    if (!isKeyrailError(reason)) {
      tally.nameless++
      return tally.report(`${args.method} ${index} failed with ${String(reason)}`)
    }
    count(reason.kind)
    const { method, transactionHash } = reason
    if (method === args.method && (!transactionHash || transactionHash === getSoakResult(args))) return
    tally.crossed++
    tally.report(`${args.method} ${index} failed as another call: ${reason.message}`)
  }
  return tally
}
