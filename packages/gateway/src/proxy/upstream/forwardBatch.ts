import { rejections } from '../../errors/rejections.ts'
import type { ByteBudget } from './createUpstream.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'
import type { GroupMember } from './groupMember.ts'
import { masked, takeWireIds, wireText } from './forwardCall.ts'
import type { ForwardedCall } from './forwardCall.ts'
import type { CallResult } from './callResult.ts'
import { readBatchResponse, readPlainBatch } from './readResponse.ts'

interface BatchOptions {
  readonly group: UpstreamGroup
  readonly keyId: string
  readonly ownerId: string
  readonly leftMs: number
  readonly budget: ByteBudget
  /** Called each time the batch is sent to a node. */
  readonly sent: () => void
}

type BatchDone = (ends: readonly (CallResult | undefined)[], member?: GroupMember) => void

/**
 * Carries reads to a node in one batch. Where its key or its owner has too much in flight it waits for that first.
 * @param options.leftMs - How long there is for the batch and what comes after it, in milliseconds. The batch may take half of it.
 * @param done - Called once, and not after the returned function was called, which stops it. Gives an end per call, `undefined`
 * where the batch brought none that can be believed, and who gave them.
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
  const { group, budget, sent } = options
  group.queue.acquire(options)
  let over = false
  const firstId = takeWireIds(calls.length)
  let body = ''
  for (const [index, call] of calls.entries()) body += (index === 0 ? '[' : ',') + wireText(call, firstId + index)
  body += ']'
  const none = (): undefined[] => calls.map(() => undefined)
  let stop = (): void => {}
  const release = (): void => {
    if (over) return
    over = true
    clearTimeout(timer)
    group.queue.release(options)
  }
  const finish = (ends: readonly (CallResult | undefined)[], member?: GroupMember): void => {
    release()
    done(ends, member)
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
      done: (fault, answer) => {
        if (fault === 'unsent') {
          member.health.unreachable()
          attempt(tried === undefined ? group.pick(member) : undefined, member)
          return
        }
        if (fault === 'noRoom') {
          // By itself each would find as little.
          finish(calls.map(() => rejections.upstreamBusy()))
          return
        }
        if (answer === undefined || answer.status < 200 || answer.status >= 300) {
          finish(none())
          return
        }
        const ends = readPlainBatch(answer.body, firstId, calls.length) ?? readAny(answer.body, member)
        // Only what is good is told: a node may reject a batch and answer each call of it.
        if (ends !== undefined) member.health.succeeded(tracked)
        finish(ends ?? none(), member)
      },
    })
  }
  const readAny = (answers: Buffer, member: GroupMember): (CallResult | undefined)[] | undefined => {
    const found = readBatchResponse(answers)
    if (found === undefined) return undefined
    return calls.map((_, index) => {
      const end = found.get(String(firstId + index))
      return end === undefined ? undefined : masked(end, member)
    })
  }
  const timer = setTimeout(() => {
    stop()
    finish(none())
  }, options.leftMs / 2)
  attempt(group.pick())
  return () => {
    stop()
    release()
  }
}
