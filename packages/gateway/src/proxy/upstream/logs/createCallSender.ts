import { rejections } from '../../../errors/rejections.ts'
import type { CallScope, SendCall, SendOptions } from '../callScope.ts'
import type { CallDone, CallResult } from '../callResult.ts'
import { forwardCall } from '../forward.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import type { GroupMember } from '../groupMember.ts'

/** Sends the several calls to nodes that one call of a caller needs, within the time and the byte budget of that call. */
export interface CallSender {
  /** Sends a call. `done` is not called after `stop`. */
  readonly send: (call: ForwardedCall, options: SendOptions, done: CallDone) => void
  /** Sends a call to one upstream. The promise stays pending after `stop`. */
  readonly query: (call: ForwardedCall, only: GroupMember) => Promise<CallResult>
  /** Stops the calls in flight. */
  readonly cancel: () => void
  /** Stops the calls in flight, and sends no more. */
  readonly stop: () => void
  readonly isStopped: () => boolean
}

/**
 * Creates a sender.
 * @param options - Those of the caller's call.
 * @param forward - How a call is sent. @default forwardCall
 */
export const createCallSender = (
  scope: CallScope,
  options: SendOptions,
  forward: SendCall = forwardCall,
): CallSender => {
  const { timeoutMs } = scope
  const { deadlineMs = timeoutMs } = options
  const deadlineAt = performance.now() + deadlineMs
  const cancels = new Set<() => void>()
  let isStopped = false
  const cancel = (): void => {
    for (const each of cancels) each()
    cancels.clear()
  }
  const send: CallSender['send'] = (call, own, done) => {
    if (isStopped) return
    const leftMs = deadlineAt - performance.now()
    if (leftMs <= 0) {
      done(rejections.upstreamTimeout(timeoutMs))
      return
    }
    let isOver = false
    // Assigned at once, because the call may end while it starts.
    let stop = (): void => {}
    const started = forward(call, scope, { ...options, ...own, deadlineMs: leftMs }, (result, member) => {
      isOver = true
      cancels.delete(stop)
      done(result, member)
    })
    if (isOver) return
    stop = started
    cancels.add(stop)
  }
  return {
    send,
    query: (call, only) => new Promise((resolve) => send(call, { only, mayStream: undefined }, resolve)),
    cancel,
    stop: () => {
      isStopped = true
      cancel()
    },
    isStopped: () => isStopped,
  }
}
