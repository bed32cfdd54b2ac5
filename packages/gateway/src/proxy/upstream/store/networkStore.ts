import type { Network } from '../../../lib/network.ts'
import type { EntryAnswer, LogAnswer } from '../../../storage/chainStore/createChainWriter.ts'
import type { ChainStore } from '../../../storage/chainStore/chainStore.ts'
import type { GroupMember } from '../groupMember.ts'
import type { InFlightLogs } from './createInFlightLogs.ts'
import type { NodeClients } from './createNodeClients.ts'
import type { Storable } from './networkStoreParts.ts'

/** How the store had a call: all of it, a part of its logs, or nothing. */
export type StoreUse = 'hit' | 'part' | 'miss'

/** What the chain store had of the calls to a network. */
export interface StoreUses {
  readonly network: Network
  /** By method. */
  readonly calls: ReadonlyMap<string, Readonly<Record<StoreUse, number>>>
  /** How many ranges and results of each node were other ones according to another node, by its name. */
  readonly contradictions: ReadonlyMap<string, number>
  /** How many units the hits would have used at each node, by its name. */
  readonly getSavedUnits: () => ReadonlyMap<string, number>
}

/** What the chain store has of one network. */
export interface NetworkStore {
  readonly store: ChainStore
  /**
   * Gets what the network's rows are stored by: its name, chain id and epoch. It changes when the chain starts again, and is `undefined` until a node has
   * confirmed that the store is of its chain: then nothing is read or stored. A result of the store is valid if `getVersion` is still the same.
   */
  readonly getChain: () => string | undefined
  /** Gets the newest block that was verified: nothing above is stored. -1 while nothing may be read. */
  readonly getVerified: () => number
  /** Gets an object that is replaced whenever something that is stored may be wrong; `undefined` while nothing may be read. */
  readonly getVersion: () => object | undefined
  /**
   * Gets how far the result of a call may be stored that a node was sent at a time: up to the block that it had reported as finalized, and not above the
   * one at which its own chain was last verified. `undefined` if the node was not found to have this chain, or only later.
   */
  readonly getStorable: (member: GroupMember, sentAt: number) => Storable | undefined
  /** Gets up to which block results of each node that has the chain can be stored; -1 for those of which it is not known yet. */
  readonly getLastBlocks: () => readonly number[]
  /** Those that the nodes had when the chain was last verified. */
  readonly clients: Omit<NodeClients, 'read'>
  readonly addLogs: (answer: LogAnswer) => void
  readonly addEntry: (answer: EntryAnswer) => void
  /** Call this when a node has gone back behind what was final: the store is not used until the chain is verified again. */
  readonly verifyAgain: () => void
  /** Counts how the store had a call of a method. */
  readonly count: (method: string, use: StoreUse) => void
  readonly uses: StoreUses
  readonly inFlightLogs: InFlightLogs
  /** Starts to verify the chain, and to confirm what needs it. */
  readonly start: () => void
  readonly stop: () => void
}
