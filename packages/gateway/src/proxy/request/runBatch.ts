import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { proxyCall, cacheResult, getCachedResult, toSharedRead } from '../upstream/proxyCall.ts'
import type { SharedRead } from '../upstream/proxyCall.ts'
import type { GroupMember } from '../upstream/groupMember.ts'
import { forwardBatch } from '../upstream/forwardBatch.ts'
import { forwardCall } from '../upstream/forwardCall.ts'
import type { ForwardedCall } from '../upstream/forwardCall.ts'
import type { CallResult } from '../upstream/callResult.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import { holdBytes } from '../../lib/memoryBudget.ts'
import type { CallContext, Cancel } from './runCall.ts'

/** Calls in one batch to a node. Nodes and providers allow at least this many. */
const groupSize = 100
/** How many exchanges one caller's batch may have with the nodes at once. */
const atOnce = 16
/** How long a change waits for the one before it in the batch. */
const orderMs = 1_000

const unknownEnd = rejections.upstreamBad()

interface Ready {
  readonly index: number
  readonly call: ForwardedCall
  /** How it may be shared, where it may. */
  readonly read: SharedRead | undefined
  /** Where the same read stands again in this batch: its answer is theirs. */
  twins: number[] | undefined
}

/** The callbacks of a batch. */
export interface BatchListener {
  /** Called once, with one end per item; not after a cancel. */
  readonly done: (ends: readonly CallResult[]) => void
  /**
   * Called with the number of calls that failed without being sent to a node: before `done`, or at a cancel. After a cancel it is also
   * called for each change that was still running and then failed that way.
   */
  readonly unsent: (calls: number) => void
}

/**
 * Runs the calls of a batch and gives their ends in the order they were asked. What was rejected already keeps its place.
 *
 * Light reads go to a node as batches: a request per call costs many times the CPU, here and there. To keep one call from
 * touching another all the same, each call that comes out of such a batch without an answer of its own (the batch was rejected,
 * timed out at half the deadline, was cut, or an answer was missing or doubled) is sent once more by itself. What is heavy or
 * changes something is never in a batch: it goes by itself from the beginning, changes one after the other in their order.
 *
 * A read whose answer was kept, that stands in the batch twice, or that someone else's single call is carrying already is not
 * sent at all.
 *
 * @returns Cancels the batch. It does not stop changes that are already running.
 */
export const runBatch = (
  items: readonly (ForwardedCall | Rejection)[],
  context: CallContext,
  { done, unsent }: BatchListener,
): Cancel => {
  const { group, budget, maxResponseBytes } = context
  const deadlineAt = performance.now() + context.timeoutMs
  // All are replaced before it is given away.
  const ends: CallResult[] = items.map(() => unknownEnd)
  const queue: (() => void)[] = []
  const cancels = new Set<Cancel>()
  // One more than there are items, so that nothing ends before all have been begun.
  let left = items.length + 1
  let open = 0
  let cancelled = false
  /** Of each item: whether a node may have received it. */
  const isSent: boolean[] = items.map(() => false)
  /** The items of changes that are running: a cancel does not stop them. */
  const running = new Set<number>()

  const markSent = ({ index, twins }: Ready): void => {
    isSent[index] = true
    if (twins !== undefined) for (const twin of twins) isSent[twin] = true
  }
  /** Whether a call has failed, or is being cancelled, without having been sent to a node. A call that was rejected earlier took no quota. */
  const isUnsent = (end: CallResult, index: number): boolean =>
    'reason' in end && isSent[index] === false && !running.has(index) && !('reason' in (items[index] ?? end))
  const finish = (): void => {
    const count = ends.filter(isUnsent).length
    if (count > 0) unsent(count)
    done(ends)
  }
  const place = (index: number, end: CallResult): void => {
    ends[index] = end
    left -= 1
    const outlivedCancel = running.delete(index) && cancelled
    if (outlivedCancel && isUnsent(end, index)) unsent(1)
    if (left === 0 && !cancelled) finish()
  }
  /** Puts an answer in place that this batch did not read from a node itself, and so has not paid for. */
  const placeGiven = (index: number, end: CallResult): void => {
    const bytes = 'value' in end ? end.value.length : 0
    if (bytes > budget.left) place(index, rejections.responseTooLarge(maxResponseBytes))
    else if (!holdBytes(budget.kept, bytes)) place(index, rejections.upstreamBusy())
    else {
      budget.left -= bytes
      place(index, end)
    }
  }
  const settle = ({ index, read, twins }: Ready, end: CallResult, member?: GroupMember): void => {
    if (read?.pin !== undefined) cacheResult(read, end, { group, member })
    place(index, end)
    if (twins !== undefined) for (const twin of twins) placeGiven(twin, end)
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
    const deadlineMs = deadlineAt - performance.now()
    if (deadlineMs <= 0) {
      open -= 1
      settle(ready, rejections.upstreamTimeout(context.timeoutMs))
      queueMicrotask(pump)
      then?.()
      return
    }
    track((ended) => {
      const { idempotent, filter } = ready.call.traits
      if (!idempotent) running.add(ready.index)
      // A read of a batch draws on the batch's own bytes, so others could not wait for it: it leads nobody.
      const carry = idempotent && filter === undefined ? forwardCall : proxyCall
      const cancel = carry(ready.call, { ...context, deadlineMs, sent: () => markSent(ready) }, (end, member) => {
        ended()
        settle(ready, end, member)
        then?.()
      })
      return idempotent ? cancel : (): void => {}
    })
  }
  const together = (calls: readonly Ready[]): void =>
    track((ended) =>
      forwardBatch(
        calls.map(({ call }) => call),
        {
          group,
          keyId: context.keyId,
          ownerId: context.ownerId,
          budget,
          sent: () => calls.forEach(markSent),
          leftMs: Math.max(1, deadlineAt - performance.now()),
        },
        (found, member) => {
          for (const [place, ready] of calls.entries()) {
            const end = found[place]
            if (end === undefined) queue.push(() => alone(ready))
            else settle(ready, end, member)
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
  /** The first of each read, by params within a method, which has traits of its own: one text from both would cost a copy of each. */
  const firsts = new Map<MethodTraits, Map<string, Ready>>()
  /** Whether another call's answer serves, or will. */
  const isServed = (ready: Ready): boolean => {
    const { read, index, call } = ready
    if (read === undefined) return false
    const kept = getCachedResult(read, group)
    if (kept !== undefined) {
      placeGiven(index, kept)
      return true
    }
    const { traits, params = '[]' } = call
    let alike = firsts.get(traits)
    if (alike === undefined) firsts.set(traits, (alike = new Map()))
    const first = alike.get(params)
    if (first !== undefined) {
      first.twins ??= []
      first.twins.push(index)
      isSent[index] = isSent[first.index] === true
      return true
    }
    alike.set(params, ready)
    if (group.inFlightReads.size() === 0) return false
    const leave = group.inFlightReads.join(read.key, { ...context, sent: () => markSent(ready) }, (end) => {
      if (leave !== undefined) cancels.delete(leave)
      // Its bytes were taken off by the one who gave it.
      settle(ready, end)
    })
    if (leave !== undefined) cancels.add(leave)
    return leave !== undefined
  }

  const changes: Ready[] = []
  let light: Ready[] = []
  const groups: Ready[][] = []
  for (const [index, item] of items.entries()) {
    if ('reason' in item) {
      place(index, item)
      continue
    }
    const ready: Ready = { index, call: item, read: toSharedRead(item), twins: undefined }
    if (isServed(ready)) continue
    if (!item.traits.idempotent || item.traits.filter !== undefined) changes.push(ready)
    else if (item.traits.expensive) groups.push([ready])
    else {
      if (light.length === 0) groups.push(light)
      light.push(ready)
      if (light.length === groupSize) light = []
    }
  }
  inOrder(changes)
  for (const calls of groups) {
    const [first, second] = calls
    if (first !== undefined) queue.push(second === undefined ? () => alone(first) : () => together(calls))
  }
  pump()
  left -= 1
  if (left === 0) finish()
  return () => {
    if (cancelled || left === 0) return
    cancelled = true
    for (const cancel of cancels) cancel()
    const count = ends.filter(isUnsent).length
    if (count > 0) unsent(count)
  }
}
