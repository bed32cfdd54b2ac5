import { pause } from '../clock/pause.ts'
import type { Poll, Polled } from './chainPoller.ts'
import type { Recovery } from './recovery.ts'
import type { AnyEvent } from './reportBlock.ts'

/** Options of {@link followByPolling}. */
export interface PollingOptions {
  readonly poll: Poll
  readonly recovery: Recovery
  readonly signal: AbortSignal
  /** Waits between two polls. @default for `waitMs` */
  readonly wait?: (polled: Polled) => Promise<void>
  /** Whether to end after this poll. @default never */
  readonly isOver?: (polled: Polled) => boolean
}

/** Polls again and again, through retryable failures. Polls never overlap, and none is sent while the consumer processes an event. */
export async function* followByPolling({
  poll,
  recovery,
  signal,
  wait = ({ waitMs }) => pause(waitMs, signal),
  isOver = () => false,
}: PollingOptions): AsyncGenerator<AnyEvent, void, undefined> {
  for (;;) {
    let waitMs: number | undefined
    try {
      const events = poll()
      for (let step = await events.next(); ; step = await events.next()) {
        recovery.succeeded()
        if (step.done) {
          if (isOver(step.value)) return
          await wait(step.value)
          break
        }
        yield step.value
      }
    } catch (error) {
      waitMs = recovery.failed(error)
    }
    if (waitMs !== undefined) await pause(waitMs, signal)
  }
}
