import type { EqualVotes } from '@keyrail/core/internal'
import { createFaultLog } from '../../../errors/faultLog.ts'
import type { Network } from '../../../lib/network.ts'
import type { DisputeEntry, LogEntry } from '../../log.ts'
import { toBytes } from './vote.ts'
import type { Vote } from './vote.ts'

/** How a confirmed call ended. `outvoted`: enough nodes agreed, and another one did not. `few`: too few nodes responded. */
export type ConfirmOutcome = 'agreed' | 'outvoted' | 'disagreed' | 'few'

/** What the confirmed calls of a network have shown. */
export interface Confirmations {
  readonly count: (outcome: ConfirmOutcome) => void
  /** Reports what the nodes said to a call on which they did not agree. */
  readonly report: (
    dispute: Pick<DisputeEntry, 'method' | 'block' | 'outcome'>,
    votes: readonly EqualVotes<Vote>[],
  ) => void
  readonly counts: () => Readonly<Record<ConfirmOutcome, number>>
}

/** A longer response is cut before it is masked, and a masked one before it is logged. */
const maxMaskedBytes = 4_096
const maxShownLength = 200

/** Disputes are logged at most once a second for each method. */
export const createConfirmations = (network: Network, log: (entry: LogEntry) => void): Confirmations => {
  const counts: Record<ConfirmOutcome, number> = { agreed: 0, outvoted: 0, disagreed: 0, few: 0 }
  const disputes = createFaultLog<DisputeEntry>(log, ({ method, outcome }) => `${method} ${outcome}`)
  return {
    count: (outcome) => {
      counts[outcome] += 1
    },
    report: (dispute, votes) =>
      disputes.log({ event: 'dispute', network, ...dispute, said: votes.map(describeVotes), count: 1 }),
    counts: () => counts,
  }
}

const describeVotes = (votes: EqualVotes<Vote>): DisputeEntry['said'][number] => ({
  upstreams: votes.map(({ member }) => member.name),
  response: describeResponse(votes[0]),
})

const describeResponse = (vote: Vote): string => {
  const value = vote.member.upstream.maskError(toBytes(vote).subarray(0, maxMaskedBytes)).toString()
  return value.length > maxShownLength ? `${value.slice(0, maxShownLength)}…` : value
}
