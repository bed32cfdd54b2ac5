/** A block's place in the chain. */
interface BlockPlace {
  readonly number: number
  readonly hash: string
}

/** What following a chain needs of a block. */
export interface LinkedBlock extends BlockPlace {
  readonly parentHash: string
}

/** What a follower has reported and not undone. */
export interface KnownChain<Known extends BlockPlace> {
  /** The newest blocks, oldest first. */
  readonly blocks: readonly Known[]
  /** Whether nothing below them was reported, so that a branch may replace all of them. */
  readonly complete: boolean
}

/** What the driver of a follower does next. */
export type FollowStep<Block, Known> =
  /** Read the block with a hash or a number, and resume with it. The numbers up to `last` may be read at the same time. */
  | { readonly read: string; readonly last?: undefined }
  | { readonly read: number; readonly last: number }
  /** Undo the blocks above a known one, or all of them. `lowest` replaces the first of them. */
  | { readonly undoAbove: Known | undefined; readonly lowest: Block }
  /** Report a block on top of the newest one. */
  | { readonly report: Block }

/**
 * How far a chain was followed. `true`: to the head. `false`: not, because blocks that were read at the same time belong to different branches.
 * `tooDeep`: not, because a branch starts below the known blocks. `wrongParent`: the node sent another block than the requested parent. `missing`:
 * the node has no block with this hash, or none from this number on.
 */
export type FollowEnd = boolean | 'tooDeep' | 'wrongParent' | { readonly missing: number | string }

/** The steps of a follower, without I/O: its driver performs each of them before the next one. */
export type FollowSteps<Block, Known> = Generator<FollowStep<Block, Known>, FollowEnd, Block | null | undefined>

/** How many blocks of a gap to read in parallel. */
const lookahead = 8
/** Filecoin skips a few numbers in a row. If more have no block, the node lacks the blocks, or its head is wrong. */
export const mostMissing = 128

/** Undoes what is not part of the branch of a block, which is followed down by hash to a known block, and reports the branch up to that block. */
export function* switchBranch<Block extends LinkedBlock, Known extends BlockPlace>(
  chain: KnownChain<Known>,
  tip: Block,
): FollowSteps<Block, Known> {
  const find = (wanted: string): Known | undefined => chain.blocks.findLast(({ hash }) => hash === wanted)
  const branch: Block[] = []
  let lowest = tip
  let undoAbove = find(tip.hash)
  while (!undoAbove) {
    branch.push(lowest)
    const { number, parentHash } = lowest
    undoAbove = find(parentHash)
    let parent: Block | Known | null | undefined = undoAbove
    if (!parent) {
      const [oldest] = chain.blocks
      if (oldest === undefined || number <= oldest.number) {
        if (!chain.complete) return 'tooDeep'
        break
      }
      parent = yield { read: parentHash }
      if (!parent) return { missing: parentHash }
      lowest = parent
    }
    // Without this check, a faulty node could make the branch grow forever. The number of a known block may be an estimate.
    if (!undoAbove && (parent.hash !== parentHash || parent.number >= number)) return 'wrongParent'
  }
  if (undoAbove !== chain.blocks.at(-1)) yield { undoAbove, lowest }
  for (const report of branch.reverse()) yield { report }
  return true
}

/**
 * Follows the blocks from a number to the head. The parent of each reported block is the block before it, whose number can be lower by more than
 * one. If a new block has another parent, its branch is followed. However the chain changes between two reads, the blocks reported and not undone
 * form one continuous chain, which is the canonical one as soon as it includes the head.
 */
export function* followToHead<Block extends LinkedBlock, Known extends BlockPlace>(
  chain: KnownChain<Known>,
  first: number,
  head: Block,
): FollowSteps<Block, Known> {
  let isFirst = true
  /** The first of the numbers in a row for which the node has no block. */
  let missing: number | undefined
  for (let number = first; number <= head.number; number++) {
    const block = yield { read: number, last: head.number }
    if (!block) {
      missing ??= number
      if (number - missing >= mostMissing) return { missing }
      continue
    }
    const newest = chain.blocks.at(-1)
    // No known block shows whether the numbers before this one have no block, or the node lacks theirs. Its parent does.
    if (!newest && missing !== undefined) {
      const parent = yield { read: block.parentHash }
      if (!parent || parent.number >= missing) return { missing }
    }
    missing = undefined
    if (!newest || newest.hash === block.parentHash) yield { report: block }
    // Blocks that were read in parallel may belong to different branches: only the first one shows which branch is current.
    else if (!isFirst) return false
    else {
      const end = yield* switchBranch(chain, block)
      if (end !== true) return end
    }
    isFirst = false
  }
  return true
}

/**
 * Reads numbered blocks ahead of the one that is needed, for the steps of {@link followToHead}.
 *
 * @param read - Reads a block.
 * @returns A function that returns the block with a number. Call it with each number in turn.
 */
export function createReadAhead<Read>(read: (number: number) => Promise<Read>) {
  const ahead: Promise<Read>[] = []
  let requested = 0
  return (number: number, last: number): Promise<Read> => {
    for (requested = Math.max(requested, number); requested <= last && requested < number + lookahead; requested++) {
      const reading = read(requested)
      // Its failure is handled when its turn comes, or never if an earlier block has failed.
      reading.catch(() => {})
      ahead.push(reading)
    }
    return ahead.shift() as Promise<Read>
  }
}
