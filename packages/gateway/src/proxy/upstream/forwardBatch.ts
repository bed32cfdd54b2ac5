import { rejections } from '../../errors/rejections.ts'
import type { ByteBudget } from './createUpstream.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'
import type { GroupMember } from './groupMember.ts'
import { maskResponse, takeWireIds, toWireText } from './forwardCall.ts'
import type { ForwardedCall } from './forwardCall.ts'
import type { CallResult } from './callResult.ts'
import { readBatchResponse, readPlainBatch } from './readResponse.ts'

interface BatchOptions {
  readonly group: UpstreamGroup
  readonly keyId: string
  readonly ownerId: string
  readonly leftMs: number
  readonly budget: ByteBudget
  /** The newest block that the caller has seen. Upstreams that have it come first. */
  readonly seenHead: number | undefined
  /** Called each time the batch is sent to a node. */
  readonly sent: () => void
}

type BatchDone = (results: readonly (CallResult | undefined)[], member?: GroupMember) => void

/**
 * Forwards reads to a node in one batch. If the key or its owner has too much in flight, it waits in the key's queue first.
 * @param options.leftMs - The time for the batch and for what follows it, in milliseconds. The batch takes at most half of it.
 * @param done - Called once, and not after the returned function was called, with a result for each call, or `undefined` for a call without a
 * valid response of its own, and with the upstream that sent them.
 * @returns A function that stops the batch.
 */
export const forwardBatch = (calls: readonly ForwardedCall[], options: BatchOptions, done: BatchDone): (() => void) => {
  const { group, leftMs: waitMs } = options
  if (group.queue.hasSlot(options)) return forwardNow(calls, options, done)
  return group.queue.enqueue(options, {
    timeoutMs: waitMs,
    run: (leftMs) => forwardNow(calls, { ...options, leftMs }, done),
    onReject: () => done(calls.map(() => rejections.upstreamBusy())),
  })
}

const forwardNow = (calls: readonly ForwardedCall[], options: BatchOptions, done: BatchDone): (() => void) => {
  const { group, budget, sent, seenHead } = options
  group.queue.acquire(options)
  let over = false
  const firstId = takeWireIds(calls.length)
  let body = ''
  for (const [index, call] of calls.entries()) body += (index === 0 ? '[' : ',') + toWireText(call, firstId + index)
  body += ']'
  const noResults = (): undefined[] => calls.map(() => undefined)
  let stop = (): void => {}
  const release = (): void => {
    if (over) return
    over = true
    clearTimeout(timer)
    group.queue.release(options)
  }
  const finish = (results: readonly (CallResult | undefined)[], member?: GroupMember): void => {
    release()
    done(results, member)
  }
  const attempt = (member: GroupMember | undefined, tried?: GroupMember): void => {
    if (member === undefined) {
      finish(calls.map(() => rejections.noUpstream(group.network)))
      return
    }
    const tracked = member.health.sent(false)
    stop = member.upstream.post({
      body,
      budget,
      sent,
      done: (fault, response) => {
        if (fault === 'unsent') {
          member.health.markUnreachable()
          attempt(tried === undefined ? group.pick({ tried: [member], seenHead }) : undefined, member)
          return
        }
        if (fault === 'noRoom') {
          // There is no more room for the single calls.
          finish(calls.map(() => rejections.upstreamBusy()))
          return
        }
        if (response === undefined || response.status < 200 || response.status >= 300) {
          finish(noResults())
          return
        }
        const results = readPlainBatch(response.body, firstId, calls.length) ?? readAny(response.body, member)
        // Only success counts for its health: a node may reject a batch and still respond to each call of it.
        if (results !== undefined) member.health.succeeded(tracked)
        finish(results ?? noResults(), member)
      },
    })
  }
  const readAny = (body: Buffer, member: GroupMember): (CallResult | undefined)[] | undefined => {
    const found = readBatchResponse(body)
    if (found === undefined) return undefined
    return calls.map((_, index) => {
      const response = found.get(String(firstId + index))
      return response === undefined ? undefined : maskResponse(response, member)
    })
  }
  const timer = setTimeout(() => {
    stop()
    finish(noResults())
  }, options.leftMs / 2)
  attempt(group.pick({ seenHead }))
  return () => {
    stop()
    release()
  }
}
