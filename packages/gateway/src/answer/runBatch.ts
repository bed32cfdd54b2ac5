import type { NoRequest, RpcCall } from '../request/parseBody.ts'
import type { CallEnd } from '../upstream/forwardCall.ts'
import { runCall } from './runCall.ts'
import type { CallContext, Cancel } from './runCall.ts'

/** How many calls of one batch are with the upstream at once. */
const atOnce = 16

/**
 * Runs the calls of a batch and gives their ends in the order they were asked. Each call is forwarded by itself, so that
 * one that is slow, refused or answered with rubbish touches no other.
 * @param done - Called once, with one end per item.
 */
export const runBatch = (
  items: readonly (RpcCall | NoRequest)[],
  context: CallContext,
  done: (ends: readonly CallEnd[]) => void,
): Cancel => {
  const ends = Array.from<CallEnd>({ length: items.length })
  const cancels = new Set<Cancel>()
  let next = 0
  let open = 0
  let left = items.length
  let cancelled = false
  let pumping = false
  const run = (index: number, item: RpcCall | NoRequest): void => {
    const running: { cancel?: Cancel; ended?: boolean } = {}
    open += 1
    const cancel = runCall(item, context, (end) => {
      running.ended = true
      if (running.cancel !== undefined) cancels.delete(running.cancel)
      ends[index] = end
      open -= 1
      left -= 1
      if (left === 0) done(ends)
      else pump()
    })
    // A refusal has ended by now, before there was anything to cancel.
    if (running.ended) return
    running.cancel = cancel
    cancels.add(cancel)
  }
  const pump = (): void => {
    // A refusal ends at once and comes back here: it must not deepen the stack.
    if (pumping || cancelled) return
    pumping = true
    while (open < atOnce && next < items.length) {
      const item = items[next]
      next += 1
      if (item !== undefined) run(next - 1, item)
    }
    pumping = false
  }
  pump()
  return () => {
    cancelled = true
    for (const cancel of cancels) cancel()
  }
}
