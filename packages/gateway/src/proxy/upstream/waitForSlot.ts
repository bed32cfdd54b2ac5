import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { dropBytes, holdBytes } from '../../lib/memoryBudget.ts'
import type { CallScope, SendOptions } from './callScope.ts'

/** What a small request in the queue takes besides a body that counts, measured: its connection, its text and its call. */
const queuedBytes = 16 * 1024
const noop = (): void => {}

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
  const { buffered } = scope.budget
  if (!holdBytes(buffered, queuedBytes)) {
    use.reject(rejections.upstreamBusy())
    return noop
  }
  let isQueued = true
  const leaveQueue = (): void => {
    if (isQueued) dropBytes(buffered, queuedBytes)
    isQueued = false
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
