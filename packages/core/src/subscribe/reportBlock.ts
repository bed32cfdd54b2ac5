import type { ChainBlock } from './chainBlock.ts'
import { getParent, toPosition } from './chainBlock.ts'
import { toReported } from './recentChain.ts'
import type { ChainEvent, RecentChain, Reported } from './recentChain.ts'
import type { ReorgEvent } from './subscription.ts'

/** An event of a subscription to blocks or logs. */
export type AnyEvent = ChainEvent | ReorgEvent<Reported>

/**
 * Removes blocks from the chain, and reports it if they may have been reported.
 *
 * @param chain - The chain.
 * @param index - The blocks above this index of `chain.blocks` are removed.
 * @param ancestor - The block that the chain continues from.
 */
export function* undoAbove(
  chain: RecentChain,
  index: number,
  ancestor: Pick<ChainBlock, 'number' | 'hash'>,
): Generator<AnyEvent, void, undefined> {
  const newest = (chain.partial ?? chain.newest())?.number ?? -1
  const removed = chain.rewind(index)
  if (newest >= (chain.first ?? 0)) yield { type: 'reorg', ancestor: toPosition(ancestor), removed }
}

/**
 * Reports a block on top of the chain, one event at a time. After each event, the chain's cursor is the position after that event. What an
 * earlier run has reported of the block is skipped, and undone if it was another block.
 *
 * @param chain - The chain. It includes the block after the last event.
 * @param block - The block.
 * @param events - All its events, in order.
 */
export function* reportBlock(
  chain: RecentChain,
  block: ChainBlock,
  events: readonly ChainEvent[],
): Generator<AnyEvent, void, undefined> {
  const { number, hash, timestamp } = block
  const reportable = number < (chain.first ?? 0) ? [] : events
  const { partial } = chain
  if (partial && partial.hash !== hash && (number >= partial.number || reportable.length > 0)) {
    yield* undoAbove(chain, chain.blocks.length - 1, getParent(block))
  }
  const logIndex = chain.partial?.hash === hash ? chain.partial.logIndex : -1
  const reported = chain.partial?.hash === hash ? [...chain.partial.reported] : []
  const left = reportable.filter((event) => event.type === 'block' || Number(event.log.logIndex) > logIndex)
  for (const event of left.slice(0, -1)) {
    reported.push(toReported(event))
    if (event.type === 'log') chain.partial = { number, hash, logIndex: Number(event.log.logIndex), reported }
    yield event
  }
  const last = left.at(-1)
  if (last) reported.push(toReported(last))
  const blockBefore = chain.partial
  chain.extend({ number, hash, timestamp, reported })
  // A block below that of the partial one, without logs.
  if (blockBefore && blockBefore.number > number) chain.partial = blockBefore
  if (last) yield last
}
