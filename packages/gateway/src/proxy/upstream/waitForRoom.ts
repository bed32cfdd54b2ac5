import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import type { CallScope, SendOptions } from './callScope.ts'
import { holdQueued } from './waitForSlot.ts'

/**
 * Lets a call, or a batch, wait until the budget of a node has room. It counts as buffered while it waits.
 * @param room - Resolves to whether there is room.
 * @param use.run - Called once with the options for the time that is left. Returns a function that cancels what it started.
 * @param use.reject - Called in its place if there is no room, or the time is up.
 * @returns A function that ends the wait, or cancels what `run` started.
 */
export const waitForRoom = (
  scope: CallScope,
  options: SendOptions,
  room: Promise<boolean>,
  use: { run: (options: SendOptions) => () => void; reject: (rejection?: Rejection) => void },
): (() => void) => {
  const { deadlineMs = scope.timeoutMs } = options
  const startedAt = performance.now()
  const release = holdQueued(scope)
  if (release === undefined) {
    use.reject(rejections.upstreamBusy())
    return () => {}
  }
  let isOver = false
  let stop = (): void => {
    isOver = true
    clearTimeout(timer)
    release()
  }
  const end = (hasRoom: boolean): void => {
    if (isOver) return
    stop()
    const leftMs = deadlineMs - (performance.now() - startedAt)
    if (hasRoom && leftMs > 0) stop = use.run({ ...options, deadlineMs: leftMs })
    else use.reject()
  }
  const timer = setTimeout(() => end(false), deadlineMs)
  void room.then(end)
  return () => stop()
}
