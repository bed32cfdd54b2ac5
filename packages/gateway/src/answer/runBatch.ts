import { refusals } from '../refusal/refusals.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { forwardBatch } from '../upstream/forwardBatch.ts'
import { forwardCall } from '../upstream/forwardCall.ts'
import type { CallEnd, ForwardedCall } from '../upstream/forwardCall.ts'
import type { CallContext, Cancel } from './runCall.ts'

/** Calls in one batch to a node. Nodes and providers allow at least this many. */
const groupSize = 100
/** How many exchanges one caller's batch may have with the nodes at once. */
const atOnce = 16
/** How long a change waits for the one before it in the batch. */
const orderMs = 1_000

interface Ready {
  readonly index: number
  readonly call: ForwardedCall
}

/**
 * Runs the calls of a batch and gives their ends in the order they were asked. What was refused already keeps its place.
 *
 * Light reads go to a node as batches: a request per call costs many times the CPU, here and there. To keep one call from
 * touching another all the same, each call that comes out of such a batch without an answer of its own (the batch was refused,
 * timed out at half the deadline, was cut, or an answer was missing or doubled) is sent once more by itself. What is heavy or
 * changes something is never in a batch: it goes by itself from the beginning, changes one after the other in their order.
 *
 * @param done - Called once, with one end per item; not after a cancel.
 */
export const runBatch = (
  items: readonly (ForwardedCall | Refusal)[],
  context: CallContext,
  done: (ends: readonly CallEnd[]) => void,
): Cancel => {
  const deadlineAt = performance.now() + context.timeoutMs
  const ends = Array.from<CallEnd>({ length: items.length })
  const queue: (() => void)[] = []
  const cancels = new Set<Cancel>()
  let left = items.length
  let open = 0
  let cancelled = false

  const settle = ({ index }: { index: number }, end: CallEnd): void => {
    ends[index] = end
    left -= 1
    if (left === 0 && !cancelled) done(ends)
  }
  const pump = (): void => {
    while (open < atOnce && !cancelled) {
      const start = queue.shift()
      if (start === undefined) return
      open += 1
      start()
    }
  }
  /** Keeps what stops an exchange until it has ended. An exchange may end before it has begun: when there is no upstream. */
  const track = (begin: (ended: () => void) => Cancel): void => {
    let over = false
    let cancel: Cancel = () => {}
    const ended = (): void => {
      over = true
      cancels.delete(cancel)
      open -= 1
      queueMicrotask(pump)
    }
    const given = begin(ended)
    if (over) return
    cancel = given
    cancels.add(given)
  }
  const alone = (ready: Ready, then?: () => void): void => {
    const timeoutMs = deadlineAt - performance.now()
    if (timeoutMs <= 0) {
      open -= 1
      settle(ready, refusals.upstreamTimeout(context.timeoutMs))
      queueMicrotask(pump)
      then?.()
      return
    }
    track((ended) => {
      const cancel = forwardCall(ready.call, { ...context, deadlineMs: timeoutMs }, (end) => {
        ended()
        settle(ready, end)
        then?.()
      })
      return ready.call.traits.idempotent ? cancel : (): void => {}
    })
  }
  const together = (group: readonly Ready[]): void =>
    track((ended) =>
      forwardBatch(
        group.map(({ call }) => call),
        { ...context, deadlineMs: context.timeoutMs / 2 },
        (found) => {
          for (const [place, ready] of group.entries()) {
            const end = found[place]
            if (end === undefined) queue.push(() => alone(ready))
            else settle(ready, end)
          }
          ended()
        },
      ),
    )
  const inOrder = ([ready, ...rest]: readonly Ready[]): void => {
    if (ready === undefined) return
    queue.push(() => {
      let moved = false
      const next = (): void => {
        clearTimeout(timer)
        if (moved) return
        moved = true
        inOrder(rest)
        queueMicrotask(pump)
      }
      const timer = setTimeout(next, orderMs)
      alone(ready, next)
    })
  }

  const changes: Ready[] = []
  let light: Ready[] = []
  const groups: Ready[][] = []
  for (const [index, call] of items.entries()) {
    if ('reason' in call) ends[index] = call
    else if (!call.traits.idempotent) changes.push({ index, call })
    else if (call.traits.heavy) groups.push([{ index, call }])
    else {
      if (light.length === 0) groups.push(light)
      light.push({ index, call })
      if (light.length === groupSize) light = []
    }
    if ('reason' in call) left -= 1
  }
  if (left === 0) {
    done(ends)
    return () => {}
  }
  inOrder(changes)
  for (const group of groups) {
    const [first, second] = group
    if (first !== undefined) queue.push(second === undefined ? () => alone(first) : () => together(group))
  }
  pump()
  return () => {
    cancelled = true
    for (const cancel of cancels) cancel()
  }
}
