import type { ChainStore } from '../../../storage/chainStore/chainStore.ts'
import type { GroupMember } from '../groupMember.ts'
import { toAnswerSource } from './networkStoreParts.ts'
import type { NetworkStoreParts } from './networkStoreParts.ts'
import { verifyChain } from './verifyChain.ts'
import type { Verification } from './verifyChain.ts'
import { confirmStored } from './confirmStored.ts'
import { createNodeClients } from './createNodeClients.ts'
import { createInFlightLogs } from './createInFlightLogs.ts'
import type { ConfirmationEnd, ConfirmOptions } from './confirmationTask.ts'
import type { NetworkStore, StoreUse, StoreUses } from './networkStore.ts'

const verifyEveryMs = 10 * 60_000
/** The least time between two verifications, if what nodes send is above the block that was last verified. */
const advanceEveryMs = 60_000
/** It is doubled each time that not all nodes have said which chain they have. */
const verifyAgainMs = 500
/** At idle priority: one query of logs, or a few others, at a time. */
const confirmPausesMs: Readonly<Record<ConfirmationEnd, number>> = { more: 200, idle: 2_000, failed: 60_000 }

/** What is known of a node's chain. */
interface KnownChain {
  /** Since when it is known, by `performance.now`. */
  readonly at: number
  /** The newest block at which it was compared. */
  readonly last: number
}

/** A chain that was verified. */
interface ReadyChain {
  readonly chain: string
  readonly revision: number
  /** The newest block that was compared: nothing above is stored, so that the next comparison is about all that is. */
  readonly verified: number
  /** The nodes that have the chain. */
  readonly since: ReadonlyMap<GroupMember, KnownChain>
  readonly version: object
}

/** Gets which nodes have the verified chain, and which ones had it and now have another. @param known - Those that had it. */
const getKnownChains = (
  members: readonly GroupMember[],
  { compared = -1, mover, members: found }: Verification,
  known: ReadyChain['since'] | undefined,
): { readonly since: ReadyChain['since']; readonly left: readonly GroupMember[] } => {
  const since = new Map<GroupMember, KnownChain>()
  const left: GroupMember[] = []
  for (const member of members) {
    const comparison = found.get(member) ?? 'unknown'
    const before = known?.get(member)
    // Only one node has said that it has the newer checkpoint.
    const last = member === mover?.member ? mover.number : compared
    if (comparison === 'same') since.set(member, { at: before?.at ?? performance.now(), last })
    if (before === undefined) continue
    // A node that does not respond says nothing about its chain.
    if (comparison === 'unknown') since.set(member, before)
    if (comparison === 'other') left.push(member)
  }
  return { since, left }
}

/** What the store counts. */
interface StoreCounts {
  readonly uses: StoreUses
  readonly count: NetworkStore['count']
  /** Counts ranges and results of a node, by its name, that are other ones according to another node. */
  readonly addContradictions: (upstream: string, count: number) => void
}

const createStoreCounts = ({ network, members }: Pick<NetworkStoreParts, 'network' | 'members'>): StoreCounts => {
  const calls = new Map<string, Record<StoreUse, number>>()
  const contradictions = new Map<string, number>()
  return {
    uses: {
      network,
      calls,
      contradictions,
      getSavedUnits: () =>
        new Map(
          members.map(({ name, upstream }) => {
            const units = [...calls].map(([method, { hit }]) => hit * upstream.getQueryUnits(method))
            return [name, units.reduce((sum, each) => sum + each, 0)]
          }),
        ),
    },
    count: (method, how) => {
      let found = calls.get(method)
      if (found === undefined) calls.set(method, (found = { hit: 0, part: 0, miss: 0 }))
      found[how] += 1
    },
    addContradictions: (upstream, count) =>
      void contradictions.set(upstream, (contradictions.get(upstream) ?? 0) + count),
  }
}

/** What the confirmations of a network remember. */
type ConfirmState = Pick<ConfirmOptions, 'limits' | 'progress' | 'turn'>

/** Creates what confirms in the background. Not a poll, which is slow while no calls come: then is the time to confirm. */
const createConfirmations = (
  options: Omit<ConfirmOptions, keyof ConfirmState>,
): { readonly start: () => void; readonly stop: () => void } => {
  const state: ConfirmState = { limits: new Map(), progress: new Map(), turn: { next: 0 } }
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const run = async (): Promise<void> => {
    const end = await confirmStored({ ...options, ...state })
    if (!isStopped) timer = setTimeout(() => void run(), confirmPausesMs[end]).unref()
  }
  return {
    start: () => void run(),
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** Creates the store of a network. */
export const createNetworkStore = (parts: NetworkStoreParts): NetworkStore => {
  const { store, network, chainId, polls } = parts
  const members = parts.members.filter(({ privateTransactions }) => !privateTransactions)
  // What is stored with the other setting is not found: nothing has confirmed it.
  const name = `${network} ${chainId}${store.confirm ? ' confirmed' : ''}`
  const { uses, count, addContradictions } = createStoreCounts(parts)
  const clients = createNodeClients(members, parts)
  let ready: ReadyChain | undefined
  let verifiedAt = -Infinity
  let mismatches = 0
  /** How often in a row not all nodes have said which chain they have. */
  let incomplete = 0
  /** How often a node has gone back. */
  let backs = 0
  const use = (verification: Verification): void => {
    const { state, checkpoint } = verification
    if (state === 'other') ready = undefined
    if (checkpoint === undefined) return
    const { epoch, revision, number } = checkpoint
    const chain = `${name} ${epoch}`
    const before = ready?.chain === chain && ready.revision === revision ? ready : undefined
    const { since, left } = getKnownChains(members, verification, before?.since)
    for (const { name: upstream } of left)
      // If the file fails, it is reported elsewhere.
      void store.purge(chain, upstream).catch(() => {})
    const version = left.length > 0 ? {} : (before?.version ?? {})
    // Each then reports which block is final, so that its next results can be stored.
    for (const member of since.keys()) member.finality.finalizedBefore(performance.now())
    ready = { chain, revision, verified: number, since, version }
  }
  const verify = async (): Promise<void> => {
    const startedAfter = backs
    const [verification] = await Promise.all([verifyChain({ ...parts, members, name, mismatches }), clients.read()])
    verifiedAt = performance.now()
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
  const getChain: NetworkStore['getChain'] = () => ready?.chain
  const getStorable: NetworkStore['getStorable'] = (member, sentAt) => {
    const since = ready?.since.get(member)
    if (ready === undefined || since === undefined || since.at > sentAt) return undefined
    const finalized = member.finality.finalizedBefore(sentAt)
    if (finalized > since.last && performance.now() - verifiedAt > advanceEveryMs) void verifications.run()
    const { chain, revision } = ready
    const source = { ...toAnswerSource(member, chain), group: store.confirm ? member.group : undefined, revision }
    return { source, last: Math.min(finalized, since.last) }
  }
  const verifyAgain = (): void => {
    backs += 1
    ready = undefined
    incomplete = 0
    void verifications.run()
  }
  /** Another instance may have found that blocks were replaced. */
  const noteStored = (stored: Awaited<ReturnType<ChainStore['addEntry']>>): void => {
    if (stored === 'outdated') verifyAgain()
    if (typeof stored === 'object') addContradictions(stored.contradicted, 1)
  }
  const addEntry: NetworkStore['addEntry'] = (answer) => void store.addEntry(answer).then(noteStored)
  const confirmations = createConfirmations({ ...parts, members, clients, getStorable, addEntry, addContradictions })
  return {
    store,
    getChain,
    getVerified: () => ready?.verified ?? -1,
    getVersion: () => ready?.version,
    getStorable,
    clients,
    getLastBlocks: () =>
      [...(ready?.since.keys() ?? [])].map((member) => getStorable(member, performance.now())?.last ?? -1),
    addLogs: (answer) => void store.addLogs(answer).then(noteStored),
    addEntry,
    verifyAgain,
    count,
    inFlightLogs: createInFlightLogs(),
    uses,
    start: () => {
      void verifications.run()
      confirmations.start()
    },
    stop: () => {
      verifications.stop()
      confirmations.stop()
    },
  }
}
