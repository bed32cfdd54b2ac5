import { pause } from '../clock/pause.ts'
import { startTimer } from '../clock/startTimer.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { RpcSocket } from '../socket/rpcSocket.ts'
import type { Polled } from './chainPoller.ts'
import { isUnsupported } from './followSocket.ts'

/** How long to wait for a head before a poll finds out whether the chain became shorter: no head is sent for that. In milliseconds. */
const longestWaitMs = 12_000
const longestBackoffMs = 30_000

/**
 * Subscribes to `newHeads` of a server that does not know cursors, so that a poll follows each new head at once. Heads that are lost, repeated or
 * out of order do no harm: they only say when to poll.
 *
 * @param socket - The connections.
 * @param signal - Ends the subscription.
 * @param fixed - Whether polls have a fixed interval.
 * @returns Waits until the next poll.
 */
export function createHeadSignal(
  socket: RpcSocket,
  signal: AbortSignal,
  fixed: boolean,
): (polled: Polled) => Promise<void> {
  let alive = false
  let wasAlive = false
  /** Whether a head came since the last poll. */
  let heard = false
  let wake = (): void => {}

  /** Resolves when the subscription ends. */
  const listen = async (): Promise<void> => {
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    const onNotification = (): void => {
      heard = true
      wake()
    }
    const subscription = await socket.subscribe(['newHeads'], { onNotification, onEnd: end }, signal)
    // Heads that came while there was no subscription.
    if (wasAlive) onNotification()
    alive = wasAlive = true
    signal.addEventListener('abort', end, { once: true })
    await ended
    alive = false
    signal.removeEventListener('abort', end)
    subscription.unsubscribe()
    wake()
  }

  const keepListening = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await listen()
        failures = 0
      } catch (error) {
        // Without it, polls follow their schedule.
        if (isUnsupported(error) || !isKeyrailError(error) || !error.retryable) return
      }
      await pause(Math.min(500 * 2 ** failures, longestBackoffMs), signal)
    }
  }
  keepListening().catch(() => {})

  /** Whether the last poll followed a head. */
  let woken = false

  return async ({ atHead, news, waitMs }) => {
    // If a poll that followed a head found nothing, the node that is polled does not have it yet.
    const isLate = woken && !news
    const ms = heard ? 0 : alive && atHead && !isLate && !fixed ? longestWaitMs : waitMs
    await new Promise<void>((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        wake = () => {}
        if (signal.aborted) reject(signal.reason)
        else resolve()
      }
      const timer = startTimer(done, ms)
      signal.addEventListener('abort', done)
      wake = done
      if (signal.aborted) done()
    })
    woken = heard
    heard = false
  }
}
