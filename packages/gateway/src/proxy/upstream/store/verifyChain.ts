import { randomUUID } from 'node:crypto'
import type { Checkpoint } from '../../../storage/chainStore/createChainUpkeep.ts'
import type { GroupMember } from '../groupMember.ts'
import { readBlock, toBlockCall } from '../logs/readBlock.ts'
import type { BlockId } from '../logs/readBlock.ts'
import type { BlockRef } from '../logs/parseLogFilter.ts'
import { queryUpstream } from '../queryUpstream.ts'
import type { NetworkStoreParts } from './networkStoreParts.ts'

/** How often in a row a chain has to differ, with no node that has the stored one, before what is stored is deleted. */
const maxMismatches = 3

/** How a node's chain compares with the stored one. `missing`: it does not have the block that was final. `unknown`: it did not say. */
type Comparison = 'same' | 'other' | 'missing' | 'unknown'

/** Whether the nodes have the chain that is stored. */
export interface Verification {
  /** `other`: none has it. `unknown`: none says. */
  readonly state: 'same' | 'other' | 'unknown'
  /** The epoch of the chain that is stored, if a node has it. */
  readonly epoch?: string
  readonly members: ReadonlyMap<GroupMember, Comparison>
  /** How often in a row the chain has differed. */
  readonly mismatches: number
}

/** Queries a block of a node. @returns `null` if the node does not have it, `undefined` if it did not respond. */
const queryBlock = async (
  { upstream }: GroupMember,
  block: BlockRef,
  timeoutMs: number,
): Promise<BlockId | null | undefined> => {
  const { method, params = '[]' } = toBlockCall(block)
  const result = await queryUpstream(upstream, { method, params }, timeoutMs)
  return typeof result === 'string' ? undefined : readBlock(result)
}

/** Compares a node's chain with a checkpoint. */
const compareChain = async (
  member: GroupMember,
  { genesis, number, hash }: Checkpoint,
  timeoutMs: number,
): Promise<Comparison> => {
  const [first, same] = await Promise.all([queryBlock(member, 0, timeoutMs), queryBlock(member, number, timeoutMs)])
  if (first && first.hash !== genesis) return 'other'
  if (same) return same.hash === hash ? 'same' : 'other'
  return same === null ? 'missing' : 'unknown'
}

/** Reads the checkpoint of the first node that knows which of its blocks are final. */
const readCheckpoint = async (
  members: readonly GroupMember[],
  epoch: string,
  timeoutMs: number,
): Promise<Checkpoint | undefined> => {
  for (const member of members) {
    // Nodes without the tag have a depth in the config.
    const deep = member.finality.finalizedBefore(performance.now())
    const first = await queryBlock(member, 0, timeoutMs)
    const last =
      (await queryBlock(member, 'finalized', timeoutMs)) ??
      (deep < 0 ? undefined : await queryBlock(member, deep, timeoutMs))
    if (first && last) return { epoch, genesis: first.hash, ...last }
  }
  return undefined
}

/** Options of a verification. */
interface VerifyOptions extends NetworkStoreParts {
  /** The network and its chain id. */
  readonly name: string
  /** What the last verification returned. */
  readonly mismatches: number
}

/**
 * Verifies that the nodes have the chain that is stored: its first block, and the block that was final when this was last verified. A test network or a
 * development node can start again with the same chain id. If the chain is another one, a new epoch starts, and everything that is stored of the old one
 * is deleted; not because one node has another final block than the next one, or none.
 */
export const verifyChain = async (options: VerifyOptions): Promise<Verification> => {
  const { store, name, network, members, timeoutMs, warn, onReplaced, mismatches } = options
  const usable = members.filter(({ health }) => health.isUsable())
  const unknown: Verification = { state: 'unknown', members: new Map(), mismatches }
  try {
    let checkpoint = await store.call('getCheckpoint', name)
    if (checkpoint === undefined) {
      const first = await readCheckpoint(usable, randomUUID(), timeoutMs)
      // Another instance may have been faster.
      checkpoint = first && (await store.call('setCheckpoint', name, first))
    }
    if (checkpoint === undefined) return unknown
    const { epoch, number } = checkpoint
    const compared = checkpoint
    const found = new Map(
      await Promise.all(
        usable.map(async (member) => [member, await compareChain(member, compared, timeoutMs)] as const),
      ),
    )
    const states = [...found.values()]
    if (states.includes('same')) {
      const same = usable.filter((member) => found.get(member) === 'same')
      const next = await readCheckpoint(same, epoch, timeoutMs)
      if (next !== undefined && next.number > number) await store.call('setCheckpoint', name, next)
      return { state: 'same', epoch, members: found, mismatches: 0 }
    }
    // A chain that is only shorter may be that of a node which still syncs: nothing is deleted.
    if (!states.includes('other'))
      return { ...unknown, state: states.includes('missing') ? 'other' : 'unknown', members: found }
    const other: Verification = { state: 'other', members: found, mismatches: mismatches + 1 }
    if (other.mismatches < maxMismatches) return other
    const next = await readCheckpoint(usable, randomUUID(), timeoutMs)
    if (next === undefined) return other
    warn(`Network ${network} has another chain than the one in the chain store: what is stored of it is deleted.`)
    onReplaced()
    await store.call('setCheckpoint', name, next, epoch)
    await store.purge(`${name} ${epoch}`, undefined)
    return await verifyChain({ ...options, mismatches: 0 })
  } catch {
    // The store reports what is wrong with its file.
    return { ...unknown, state: 'other', mismatches: 0 }
  }
}
