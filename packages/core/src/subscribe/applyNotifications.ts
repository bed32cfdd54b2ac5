import { KeyrailError } from '../failure/keyrailError.ts'
import type { SocketNotification } from '../socket/socketCall.ts'
import { parseBlock, parseLog, parsePosition } from './chainBlock.ts'
import { tooDeep } from './chainPoller.ts'
import type { ChainSource } from './chainSource.ts'
import type { RecentChain, Reported } from './recentChain.ts'
import { reportBlock, undoAbove } from './reportBlock.ts'
import type { AnyEvent } from './reportBlock.ts'

/** Applies a notification to the chain, and reports what changes. */
export type ApplyNotification = (notification: SocketNotification) => AsyncGenerator<AnyEvent, void, undefined>

/**
 * Creates the error for notifications that do not continue each other. They come in order over one connection, so a proxy or the service has lost or
 * repeated one. The subscription continues from its position.
 */
const outOfOrder = (what: string): KeyrailError =>
  new KeyrailError(`${what} does not continue the subscription`, {
    kind: 'badResponse',
    source: 'service',
    retryable: true,
    method: 'eth_subscribe',
  })

/**
 * Creates the function that applies the notifications of one subscription that was opened with a cursor.
 *
 * A position says that everything up to a block was delivered, and that everything above it is undone: it starts the stream, it ends the logs of a
 * block, and it is the ancestor of a branch. Headers are checked by their parent, logs by their index and by the position of their block. If they are
 * not in order, what may be incomplete is undone.
 *
 * @param chain - The chain, which was the cursor.
 * @param source - Loads what is reported of a block.
 * @param reorgDepth - How many blocks a branch may replace.
 */
export function createApplyNotification(
  chain: RecentChain,
  source: ChainSource,
  reorgDepth: number,
): ApplyNotification {
  /** Whether the first notification was applied: the position at which the stream starts. */
  let started = false
  /** Whether the chain's partial block comes from this subscription, not from an earlier one that may have ended in the middle of it. */
  let current = false

  function* undoPartial(): Generator<AnyEvent, void, undefined> {
    const newest = chain.newest()
    if (newest) yield* undoAbove(chain, chain.blocks.length - 1, newest)
    current = false
  }

  /** Undoes a block of which the logs may be incomplete or out of order, and the blocks above it. */
  function* undoFrom(number: number): Generator<AnyEvent, void, undefined> {
    const index = chain.blocks.findLastIndex((block) => block.number < number)
    const ancestor = chain.blocks[index]
    if (ancestor) yield* undoAbove(chain, index, ancestor)
    throw outOfOrder('a log')
  }

  /** Moves the chain down to a position. */
  function* rewindTo(position: { readonly number: number; readonly hash: `0x${string}` }): Generator<AnyEvent> {
    const index = chain.blocks.findLastIndex(({ number }) => number <= position.number)
    const block = chain.blocks[index]
    if (block?.number === position.number && block.hash !== position.hash) throw outOfOrder('a position')
    if (!block && !chain.complete) throw tooDeep(reorgDepth)
    if (index < chain.blocks.length - 1 || current) yield* undoAbove(chain, index, position)
    if (block?.number !== position.number) chain.extend({ ...position, reported: [] })
    current = false
  }

  function* applyPosition(value: unknown): Generator<AnyEvent, void, undefined> {
    const position = parsePosition(value)
    const { partial } = chain
    const newest = chain.newest()
    if (!newest) {
      // Blocks between the first one and the head would be missing.
      if (started || position.number >= (chain.first ?? Infinity)) throw outOfOrder('the start')
      chain.first ??= position.number + 1
      chain.extend({ ...position, reported: [] })
      return
    }
    if (position.number <= newest.number) return yield* rewindTo(position)
    if (!started || !source.logs) throw outOfOrder('a position')
    if (partial && partial.number === position.number && partial.hash === position.hash) {
      chain.extend({ ...position, reported: partial.reported })
    } else {
      if (partial && current && position.number >= partial.number) yield* undoFrom(partial.number)
      if (partial && (current || position.number >= partial.number)) yield* undoPartial()
      const below = chain.partial
      chain.extend({ ...position, reported: [] })
      chain.partial = below
    }
    current = false
  }

  async function* applyHeader(value: unknown): AsyncGenerator<AnyEvent, void, undefined> {
    const block = parseBlock(value)
    if (block.parentHash !== chain.newest()?.hash) throw outOfOrder('a block')
    const { number, hash, parentHash, timestamp, header } = block
    const position = { number, hash, parentHash, timestamp, header }
    yield* reportBlock(chain, position, await source.load(position))
  }

  function* applyLog(value: unknown): Generator<AnyEvent, void, undefined> {
    const { log, number, index } = parseLog(value)
    const newest = chain.newest()
    if (!newest || log.removed === true) throw outOfOrder('a log')
    const { partial } = chain
    const same = partial?.number === number && partial.hash === log.blockHash
    if (same && index <= partial.logIndex) {
      // An earlier subscription has reported these.
      if (!current) return
      yield* undoFrom(number)
    }
    if (number <= newest.number || (partial && current && !same))
      yield* undoFrom(Math.min(number, partial?.number ?? number))
    // The block that was partly reported was replaced.
    if (partial && !same) yield* undoPartial()
    if (number < (chain.first ?? 0)) return
    const reported: readonly Reported[] = same ? [...partial.reported, log] : [log]
    chain.partial = { number, hash: log.blockHash, logIndex: index, reported }
    current = true
    yield { type: 'log', log }
  }

  return async function* apply({ position, result }) {
    if (position !== undefined) yield* applyPosition(position)
    else if (source.logs) yield* applyLog(result)
    else yield* applyHeader(result)
    started = true
  }
}
