import type { SlotHolder } from '../../lib/createFairQueue.ts'
import { dropBytes, holdBytes } from '../../lib/memoryBudget.ts'
import type { ByteBudget } from './createUpstream.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'

/** What a small request in the queue takes besides a body that counts, measured: its connection, its text and its call. */
const queuedBytes = 16 * 1024
const noop = (): void => {}

/**
 * Queues a call, or a batch, whose key or owner has too many calls in flight. It counts as buffered while it waits.
 * @param use - See `FairQueue.enqueue`. `onReject` is also called if there is no room for it.
 * @returns A function that removes the call from the queue, or cancels what `run` started.
 */
export const waitForSlot = (
  options: SlotHolder & { readonly group: UpstreamGroup; readonly budget: ByteBudget },
  use: { timeoutMs: number; run: (leftMs: number) => () => void; onReject: () => void },
): (() => void) => {
  const { buffered } = options.budget
  if (!holdBytes(buffered, queuedBytes)) {
    use.onReject()
    return noop
  }
  let isQueued = true
  const leaveQueue = (): void => {
    if (isQueued) dropBytes(buffered, queuedBytes)
    isQueued = false
  }
  const stop = options.group.queue.enqueue(options, {
    timeoutMs: use.timeoutMs,
    run: (leftMs) => {
      leaveQueue()
      return use.run(leftMs)
    },
    onReject: () => {
      leaveQueue()
      use.onReject()
    },
  })
  return () => {
    leaveQueue()
    stop()
  }
}
