import type { GroupMember } from '../groupMember.ts'
import type { NodeClients } from './createNodeClients.ts'
import type { NetworkStore } from './networkStore.ts'
import type { NetworkStoreParts } from './networkStoreParts.ts'

/** How a confirmation ended: `more` if there may be more to confirm, `failed` if the node did not help. */
export type ConfirmationEnd = 'more' | 'idle' | 'failed'

/** What one node has been asked to confirm of another one. What it could not is confirmed by other nodes, or by callers' calls. */
export interface Progress {
  /** When the newest range was added that it could not confirm. */
  logsAt: number
  /** The number of the last result. */
  entry: number
}

/** Options of a confirmation. */
export interface ConfirmOptions
  extends
    Pick<NetworkStoreParts, 'store' | 'members' | 'logRanges' | 'timeoutMs'>,
    Pick<NetworkStore, 'getStorable' | 'addEntry'> {
  /** How many blocks a query of each node has: half as many after one that was too much, twice as many after one that was not. */
  readonly limits: Map<GroupMember, number>
  /** By the node that has sent something, and the one that confirms it. */
  readonly progress: Map<GroupMember, Map<GroupMember, Progress>>
  /** Which pair of such nodes is next: each has its turn. */
  readonly turn: { next: number }
  readonly clients: Pick<NodeClients, 'get'>
  /** Called with a node that had sent what is wrong according to another one, and how often. */
  readonly addContradictions: (upstream: string, count: number) => void
}

/** What one node has sent, for another one to confirm. */
export interface ConfirmationTask {
  readonly source: GroupMember
  readonly member: GroupMember
  readonly progress: Progress
  readonly options: ConfirmOptions
}
