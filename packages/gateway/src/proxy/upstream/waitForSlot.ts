import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { dropBytes, holdBytes } from '../../lib/memoryBudget.ts'
import type { CallScope, SendOptions } from './callScope.ts'

/** What a small request in the queue takes besides a body that counts, measured: its connection, its text and its call. */
const queuedBytes = 16 * 1024
const noop = (): void => {}

/** Counts a call that waits as buffered. @returns A function that ends that; `undefined`: there is no room. */
export const holdQueued = ({ budget: { buffered } }: CallScope): (() => void) | undefined => {
  if (!holdBytes(buffered, queuedBytes)) return undefined
  let isHeld = true
  return () => {
    if (isHeld) dropBytes(buffered, queuedBytes)
    isHeld = false
  }
}

/**
 * Queues a call, or a batch, whose key or owner has too many calls in flight. It counts as buffered while it waits.
 * @param use.run - Called once with the options for the time that is left. Returns a function that cancels what it started.
 * @param use.reject - Called in its place if the time is up, or if there is no room in the queue.
 * @returns A function that removes the call from the queue, or cancels what `run` started.
 */
export const waitForSlot = (
  scope: CallScope,
  options: SendOptions,
  use: { run: (options: SendOptions) => () => void; reject: (rejection: Rejection) => void },
): (() => void) => {
  const leaveQueue = holdQueued(scope)
  if (leaveQueue === undefined) {
    use.reject(rejections.upstreamBusy())
    return noop
  }
  const stop = scope.group.queue.enqueue(scope, {
    timeoutMs: options.deadlineMs ?? scope.timeoutMs,
    run: (deadlineMs) => {
      leaveQueue()
      return use.run({ ...options, deadlineMs })
    },
    onReject: () => {
      leaveQueue()
      use.reject(rejections.upstreamBusy())
    },
  })
  return () => {
    leaveQueue()
    stop()
  }
}
