import type { FailureKind } from '../failure/failureKind.ts'

/** The failures that every correct node has. After any other, such as a timeout or missing data, a node has said nothing about the call. */
export const decidedKinds: readonly FailureKind[] = ['revert', 'txKnown', 'txRejected', 'invalidRequest']

/** The votes for one meaning. */
export type EqualVotes<Vote> = readonly [Vote, ...Vote[]]

/**
 * Groups votes by what they mean: the most common first, and among equals the one that came first.
 *
 * @param votes - The votes in the order in which they came.
 * @param isSame - Whether two votes mean the same.
 * @example
 * groupVotes(['1', '2', '2'], (one, other) => one === other) // [['2', '2'], ['1']]
 */
export function groupVotes<Vote>(
  votes: readonly Vote[],
  isSame: (one: Vote, other: Vote) => boolean,
): readonly EqualVotes<Vote>[] {
  const groups: [Vote, ...Vote[]][] = []
  for (const vote of votes) {
    const same = groups.find(([first]) => isSame(first, vote))
    if (same) same.push(vote)
    else groups.push([vote])
  }
  return groups.sort((one, other) => other.length - one.length)
}

/** How far a poll is. */
export interface PollCounts {
  /** How many must agree. */
  readonly nodes: number
  /** How many have voted. */
  readonly votes: number
  /** How many of them agree with each other. */
  readonly most: number
  /** How many have not responded yet. */
  readonly open: number
}

/**
 * Whether enough nodes can still agree. Those that fail are replaced, and after a disagreement one more is asked, so `nodes + 1` vote at most.
 *
 * @param counts - How far the poll is.
 * @example
 * canAgree({ nodes: 2, votes: 2, most: 1, open: 0 }) // true: the third decides
 * canAgree({ nodes: 2, votes: 3, most: 1, open: 0 }) // false
 */
export const canAgree = ({ nodes, votes, most, open }: PollCounts): boolean =>
  most + open + Math.max(0, nodes + 1 - votes - open) >= nodes
