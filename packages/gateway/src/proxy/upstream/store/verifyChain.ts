import { randomUUID } from 'node:crypto'
import type { ChainVersion, Checkpoint } from '../../../storage/chainStore/createCheckpointTable.ts'
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

/** A node, and the newest block of its chain that is final. */
interface Mover {
  readonly member: GroupMember
  readonly number: number
}

/** Whether the nodes have the chain that is stored. */
export interface Verification {
  /** `other`: none has it. `unknown`: none says. */
  readonly state: 'same' | 'other' | 'unknown'
  /** The newest checkpoint of the chain that is stored, if a node has it. */
  readonly checkpoint?: Checkpoint
  /** The block that all nodes were compared at. */
  readonly compared?: number
  /** The node that the newer checkpoint is from, if there is one: only of it is known that it has the chain up to this block. */
  readonly mover?: Mover | undefined
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

/** Reads the checkpoint of the first node that knows which of its blocks are final, and returns it with the node. */
const readCheckpoint = async (
  members: readonly GroupMember[],
  version: ChainVersion,
  timeoutMs: number,
): Promise<readonly [Checkpoint, GroupMember] | undefined> => {
  for (const member of members) {
    // Nodes without the tag have a depth in the config.
    const deep = member.finality.finalizedBefore(performance.now())
    const first = await queryBlock(member, 0, timeoutMs)
    const last =
      (await queryBlock(member, 'finalized', timeoutMs)) ??
      (deep < 0 ? undefined : await queryBlock(member, deep, timeoutMs))
    if (first && last) return [{ ...version, genesis: first.hash, ...last }, member]
  }
  return undefined
}

/** Moves the checkpoint to a newer block of the same chain. @returns The newest checkpoint, and the node that it is from if it was moved. */
const moveCheckpoint = async (
  { store, name, timeoutMs }: VerifyOptions,
  checkpoint: Checkpoint,
  members: readonly GroupMember[],
): Promise<{ readonly checkpoint: Checkpoint; readonly mover?: Mover } | undefined> => {
  const { epoch, revision } = checkpoint
  const [next, member] = (await readCheckpoint(members, { epoch, revision }, timeoutMs)) ?? []
  if (next === undefined || member === undefined || next.number <= checkpoint.number) return { checkpoint }
  // Otherwise, the new block may be of a chain that has replaced the old one since it was compared.
  if ((await compareChain(member, checkpoint, timeoutMs)) !== 'same') return { checkpoint }
  const stored = await store.call('setCheckpoint', name, next)
  if (stored?.epoch !== epoch || stored.revision !== revision) return undefined
  return { checkpoint: stored, mover: { member, number: next.number } }
}

/** Finds the newest checkpoint that a node still has, by bisection. @returns -1 if it has none, `undefined` if it did not respond. */
const findCommonBlock = async (
  { store, name, timeoutMs }: VerifyOptions,
  member: GroupMember,
): Promise<number | undefined> => {
  const checkpoints = await store.call('getCheckpoints', name)
  let common = -1
  let other = checkpoints.length
  while (other - common > 1) {
    const middle = Math.floor((common + other) / 2)
    const { number = 0, hash } = checkpoints[middle] ?? {}
    const block = await queryBlock(member, number, timeoutMs)
    if (block === undefined) return undefined
    if (block?.hash === hash) common = middle
    else other = middle
  }
  return checkpoints[common]?.number ?? -1
}

/** Options of a verification. */
interface VerifyOptions extends NetworkStoreParts {
  /** The network and its chain id. */
  readonly name: string
  /** What the last verification returned. */
  readonly mismatches: number
}

const createVersion = (): ChainVersion => ({ epoch: randomUUID(), revision: 0 })

/** Deletes what is stored of blocks that other ones have replaced. @returns Whether it could. */
const deleteReplaced = async (
  options: VerifyOptions,
  { epoch, revision }: Checkpoint,
  members: readonly GroupMember[],
): Promise<boolean> => {
  const { store, name, network, timeoutMs, warn, onReplaced } = options
  const [member] = members
  const common = member && (await findCommonBlock(options, member))
  if (common === undefined) return false
  const from = common < 0 ? '' : ` above block ${common}`
  const warning = `Network ${network} has another chain than the one in the chain store${from}: what is stored of it is deleted.`
  if (common >= 0) {
    warn(warning)
    await store.call('rollBack', name, { epoch, revision }, common)
    onReplaced()
    return true
  }
  const [next] = (await readCheckpoint(members, createVersion(), timeoutMs)) ?? []
  if (next === undefined) return false
  warn(warning)
  onReplaced()
  await store.call('setCheckpoint', name, next, epoch)
  await store.purge(`${name} ${epoch}`, undefined)
  return true
}

/**
 * Verifies that the nodes have the chain that is stored: its first block, and the block that was final when this was last verified. A test network or a
 * development node can start again with the same chain id, and with a small `finalityDepth`, blocks are replaced that were final. Results above
 * the newest block that is still the same are deleted; if there is none, everything, and a new epoch starts. Nothing is deleted while a node has the
 * stored chain, or while one does not respond.
 */
export const verifyChain = async (options: VerifyOptions): Promise<Verification> => {
  const { store, name, members, timeoutMs, mismatches } = options
  const usable = members.filter(({ health }) => health.isUsable())
  const unknown: Verification = { state: 'unknown', members: new Map(), mismatches }
  try {
    let checkpoint = await store.call('getCheckpoint', name)
    if (checkpoint === undefined) {
      const [first] = (await readCheckpoint(usable, createVersion(), timeoutMs)) ?? []
      // Another instance may have been faster.
      checkpoint = first && (await store.call('setCheckpoint', name, first))
    }
    if (checkpoint === undefined) return unknown
    const compared = checkpoint
    const found = new Map(
      await Promise.all(
        usable.map(async (member) => [member, await compareChain(member, compared, timeoutMs)] as const),
      ),
    )
    const states = [...found.values()]
    if (states.includes('same')) {
      const same = usable.filter((member) => found.get(member) === 'same')
      const moved = await moveCheckpoint(options, compared, same)
      // Another instance has found that blocks were replaced.
      if (moved === undefined) return { ...unknown, state: 'other' }
      return { state: 'same', ...moved, compared: compared.number, members: found, mismatches: 0 }
    }
    // A chain that is only shorter may be that of a node which still syncs: nothing is deleted.
    if (!states.includes('other'))
      return { ...unknown, state: states.includes('missing') ? 'other' : 'unknown', members: found }
    const isSilent = members.some((member) => (found.get(member) ?? 'unknown') === 'unknown')
    const other: Verification = { state: 'other', members: found, mismatches: mismatches + (isSilent ? 0 : 1) }
    if (other.mismatches < maxMismatches) return other
    const isDeleted = await deleteReplaced(
      options,
      compared,
      usable.filter((member) => found.get(member) === 'other'),
    )
    return isDeleted ? await verifyChain({ ...options, mismatches: 0 }) : other
  } catch {
    // The store reports what is wrong with its file.
    return { ...unknown, state: 'other', mismatches: 0 }
  }
}
