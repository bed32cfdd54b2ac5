import type { Network } from '../../../lib/network.ts'
import type { ChainStore } from '../../../storage/chainStore/openChainStore.ts'
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
  readonly timeoutMs: number
  readonly warn: (what: string) => void
  /** Called when the nodes have another chain than the one that was stored. */
  readonly onReplaced: () => void
}
