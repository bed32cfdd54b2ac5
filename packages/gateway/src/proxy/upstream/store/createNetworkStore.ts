import type { Network } from '../../../lib/network.ts'
import type { ChainStore } from '../../../storage/chainStore/openChainStore.ts'
import type { GroupMember } from '../groupMember.ts'
import type { NetworkStoreParts } from './networkStoreParts.ts'
import { verifyChain } from './verifyChain.ts'
import type { Verification } from './verifyChain.ts'
import { confirmEmptyLogs } from './confirmEmptyLogs.ts'
import type { ConfirmationEnd } from './confirmEmptyLogs.ts'

/** How the store had a call: all of it, a part of its logs, or nothing. */
export type StoreUse = 'hit' | 'part' | 'miss'

/** What the chain store had of the calls to a network. */
export interface StoreUses {
  readonly network: Network
  /** By method. */
  readonly calls: ReadonlyMap<string, Readonly<Record<StoreUse, number>>>
  /** How many ranges each node had called empty that have logs, by its name. */
  readonly contradictions: ReadonlyMap<string, number>
}

/** What the chain store has of one network. */
export interface NetworkStore {
  readonly store: ChainStore
  /**
   * Gets what the network's rows are stored by: its name, chain id and epoch. It changes when the chain starts again, and is `undefined` until a node has
   * confirmed that the store is of its chain: then nothing is read or stored. A result of the store is valid if this is still the same.
   */
  readonly getChain: () => string | undefined
  /** The same for the result of a call that a node was sent at a time; `undefined` if the node was not found to have this chain, or only later. */
  readonly getChainOf: (member: GroupMember, sentAt: number) => string | undefined
  /** Call this when a node has gone back behind what was final: the store is not used until the chain is verified again. */
  readonly verifyAgain: () => void
  /** Counts how the store had a call of a method. */
  readonly count: (method: string, use: StoreUse) => void
  readonly uses: StoreUses
  /** Starts to verify the chain, and to confirm empty ranges. */
  readonly start: () => void
  readonly stop: () => void
}

const verifyEveryMs = 10 * 60_000
/** It is doubled each time that not all nodes have said which chain they have. */
const verifyAgainMs = 500
/** At idle priority: one query at a time. */
const confirmPausesMs: Readonly<Record<ConfirmationEnd, number>> = { more: 200, idle: 2_000, failed: 60_000 }

/** Creates the store of a network. */
export const createNetworkStore = (parts: NetworkStoreParts): NetworkStore => {
  const { store, network, chainId, members, polls } = parts
  const name = `${network} ${chainId}`
  const counts = new Map<string, Record<StoreUse, number>>()
  const contradictions = new Map<string, number>()
  const limits = new Map<GroupMember, number>()
  let ready: { readonly chain: string; readonly since: number; readonly members: ReadonlySet<GroupMember> } | undefined
  let mismatches = 0
  /** How often in a row not all nodes have said which chain they have. */
  let incomplete = 0
  /** How often a node has gone back. */
  let backs = 0
  const use = ({ state, epoch, members: found }: Verification): void => {
    if (state === 'other') ready = undefined
    if (epoch === undefined) return
    const chain = `${name} ${epoch}`
    const before = ready?.chain === chain ? ready : undefined
    // A node that does not respond says nothing about its chain.
    const isSame = (member: GroupMember): boolean => {
      const comparison = found.get(member) ?? 'unknown'
      return comparison === 'same' || (comparison === 'unknown' && before?.members.has(member) === true)
    }
    ready = { chain, since: before?.since ?? performance.now(), members: new Set(members.filter(isSame)) }
  }
  const verify = async (): Promise<void> => {
    const startedAfter = backs
    const verification = await verifyChain({ ...parts, name, mismatches })
    // It may have seen the chain from before.
    if (backs !== startedAfter) return verify()
    mismatches = verification.mismatches
    use(verification)
    const isComplete =
      ready !== undefined && members.every((member) => (verification.members.get(member) ?? 'unknown') !== 'unknown')
    incomplete = isComplete ? 0 : incomplete + 1
  }
  const verifications = polls.create(verify, () =>
    ready !== undefined && incomplete === 0 ? verifyEveryMs : Math.min(verifyAgainMs * 2 ** incomplete, verifyEveryMs),
  )
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const getChain: NetworkStore['getChain'] = () => ready?.chain
  const getChainOf: NetworkStore['getChainOf'] = (member, sentAt) =>
    ready !== undefined && ready.since <= sentAt && ready.members.has(member) ? ready.chain : undefined
  // Not a poll, which is slow while no calls come: then is the time to confirm.
  const confirm = async (): Promise<void> => {
    const end = await confirmEmptyLogs({ ...parts, getChainOf, limits, contradictions })
    if (!isStopped) timer = setTimeout(() => void confirm(), confirmPausesMs[end]).unref()
  }
  return {
    store,
    getChain,
    getChainOf,
    verifyAgain: () => {
      backs += 1
      ready = undefined
      incomplete = 0
      void verifications.run()
    },
    count: (method, how) => {
      let found = counts.get(method)
      if (found === undefined) counts.set(method, (found = { hit: 0, part: 0, miss: 0 }))
      found[how] += 1
    },
    uses: { network, calls: counts, contradictions },
    start: () => {
      void verifications.run()
      void confirm()
    },
    stop: () => {
      isStopped = true
      verifications.stop()
      clearTimeout(timer)
    },
  }
}
