import { isKeyrailError } from '@keyrail/core'
import { getSoakResult } from './soakResult.ts'
import type { SoakCall } from './soakCall.ts'

/** How one call ended. */
export type SoakOutcome =
  | { readonly status: 'fulfilled'; readonly value: unknown }
  | { readonly status: 'rejected'; readonly reason: unknown }

/** What is known of the calls of a soak that have ended. */
export interface SoakTally {
  /** How often each call ended: once, if all is well. */
  readonly settled: Uint8Array
  /** 1 where a call was answered. */
  readonly answered: Uint8Array
  /** How many failed, by kind; `own reason` is the reason with which a call was aborted. */
  readonly failures: Record<string, number>
  /** Answers and failures that belong to another call. */
  crossed: number
  /** Failures that are neither a `KeyrailError` nor the caller's own reason. */
  nameless: number
  /** The first few things that were wrong, in words. */
  readonly samples: string[]
  readonly say: (text: string) => void
  /** A call has ended. `ownReason` is the reason with which it may have been aborted. */
  readonly end: (index: number, call: SoakCall, outcome: SoakOutcome, ownReason?: object) => void
}

const MAX_SAMPLES = 20

/** Makes one for so many calls. All that grows with their number is made at once, so that it is not taken for a leak. */
export function createTally(calls: number): SoakTally {
  const tally: SoakTally = {
    settled: new Uint8Array(calls),
    answered: new Uint8Array(calls),
    failures: {},
    crossed: 0,
    nameless: 0,
    samples: [],
    say: (text) => {
      if (tally.samples.length < MAX_SAMPLES) tally.samples.push(text)
    },
    end: (index, call, outcome, ownReason) => {
      tally.settled[index] = (tally.settled[index] as number) + 1
      if (outcome.status === 'rejected') return failed(index, call, outcome.reason, ownReason)
      const { value } = outcome
      tally.answered[index] = 1
      if (JSON.stringify(value) !== JSON.stringify(getSoakResult(call.args))) {
        tally.crossed++
        tally.say(`${call.args.method} ${index} was answered ${JSON.stringify(value)}`)
      }
      // Whoever is given the same object will see it.
      if (Object(value) === value) Object.assign(value as object, { spoilt: index })
    },
  }
  const count = (kind: string): void => {
    tally.failures[kind] = (tally.failures[kind] ?? 0) + 1
  }
  const failed = (index: number, { args }: SoakCall, reason: unknown, ownReason?: object): void => {
    if (ownReason && reason === ownReason) return count('own reason')
    if (!isKeyrailError(reason)) {
      tally.nameless++
      return tally.say(`${args.method} ${index} failed with ${String(reason)}`)
    }
    count(reason.kind)
    const { method, transactionHash } = reason
    if (method === args.method && (!transactionHash || transactionHash === getSoakResult(args))) return
    tally.crossed++
    tally.say(`${args.method} ${index} failed as another call: ${reason.message}`)
  }
  return tally
}
