import type { Network } from '../../../lib/network.ts'
import type { AnswerSource } from '../../../storage/chainStore/answerSource.ts'
import type { ChainStore } from '../../../storage/chainStore/chainStore.ts'
import type { GroupMember } from '../groupMember.ts'
import type { Polls } from '../health/createPolls.ts'
import type { LogRanges } from '../logs/createLogRanges.ts'

/** What a store of a network works with. */
export interface NetworkStoreParts {
  readonly store: ChainStore
  readonly network: Network
  readonly chainId: number
  readonly members: readonly GroupMember[]
  readonly polls: Polls
  readonly logRanges: LogRanges<GroupMember> | undefined
  /** Whether traces are stored. */
  readonly traces: boolean
  readonly timeoutMs: number
  readonly warn: (what: string) => void
  /** Called when the nodes have another chain than the one that was stored. */
  readonly onReplaced: () => void
}

/** The node that an answer is from. */
export type NodeSource = Required<Pick<AnswerSource, 'chain' | 'upstream' | 'node'>>

/** What the store remembers of the node that an answer is from. */
export const toAnswerSource = ({ name, urlHash }: GroupMember, chain: string): NodeSource => ({
  chain,
  upstream: name,
  node: urlHash,
})

/** Whether a node may be sent a query of a method. */
export const hasRoom = ({ upstream, capabilities }: GroupMember, method: string): boolean =>
  capabilities.offers(method) && upstream.hasRoomForQuery(method)

/** What may be stored of a node's results. */
export interface Storable {
  readonly source: AnswerSource
  readonly last: number
}
