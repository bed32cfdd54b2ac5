import { soakCall } from './soakCall.ts'
import type { ServerReport } from './soakServer.ts'
import type { SoakTally } from './soakTally.ts'

/** The outcome of the transactions of a soak test. */
export interface WriteVerdict {
  readonly made: number
  /** Transactions that the servers accepted more than once: one that may have arrived was sent again. */
  readonly doubled: number
  /** Transactions that returned a hash, but that no server accepted. */
  readonly untaken: number
}

/** Compares the outcomes of transactions as seen by callers with the transactions that the servers accepted. */
export function verifyWrites(tally: SoakTally, taken: ServerReport['taken'], seed: number): WriteVerdict {
  const metBy = new Map(taken)
  let made = 0
  let doubled = 0
  let untaken = 0
  for (let index = 0; index < tally.completed.length; index++) {
    const { method, params } = soakCall(index, seed).args
    if (method !== 'eth_sendRawTransaction') continue
    made++
    const met = metBy.get(String(Object.values(params ?? [])[0])) ?? []
    if (met.length > 1) {
      doubled++
      tally.report(`transaction ${index} was sent ${met.length} times, and met ${met.join(', then ')}`)
    }
    if (tally.succeeded[index] && met.length === 0) {
      untaken++
      tally.report(`transaction ${index} succeeded, but never arrived`)
    }
  }
  return { made, doubled, untaken }
}
