import { refusals } from '../refusal/refusals.ts'
import type { ByteBudget } from './createUpstream.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'
import type { GroupMember } from './groupMember.ts'
import { masked, takeWireIds, wireText } from './forwardCall.ts'
import type { ForwardedCall } from './forwardCall.ts'
import type { CallEnd } from './callEnd.ts'
import { readBatchAnswer, readPlainBatch } from './readAnswer.ts'

/**
 * Carries reads to a node in one batch.
 * @param options.deadlineMs - How long the batch may take.
 * @param done - Called once, and not after the returned function was called, which stops it. Gives an end per call, `undefined`
 * where the batch brought none that can be believed, and who gave them.
 */
export const forwardBatch = (
  calls: readonly ForwardedCall[],
  options: { group: UpstreamGroup; deadlineMs: number; budget: ByteBudget },
  done: (ends: readonly (CallEnd | undefined)[], member?: GroupMember) => void,
): (() => void) => {
  const { group, deadlineMs, budget } = options
  const firstId = takeWireIds(calls.length)
  const body = `[${calls.map((call, index) => wireText(call, String(firstId + index))).join(',')}]`
  const none = (): undefined[] => calls.map(() => undefined)
  let stop = (): void => {}
  const finish = (ends: readonly (CallEnd | undefined)[], member?: GroupMember): void => {
    clearTimeout(timer)
    done(ends, member)
  }
  const attempt = (member: GroupMember | undefined, tried?: GroupMember): void => {
    if (member === undefined) {
      finish(calls.map(() => refusals.noUpstream(group.network)))
      return
    }
    stop = member.upstream.post({
      body,
      budget,
      done: (fault, answer) => {
        if (fault === 'unsent') {
          member.health.unreachable()
          attempt(tried === undefined ? group.pick(member) : undefined, member)
          return
        }
        if (answer === undefined || answer.status < 200 || answer.status >= 300) {
          finish(none())
          return
        }
        const ends = readPlainBatch(answer.body, firstId, calls.length) ?? readAny(answer.body, member)
        // Only what is good is told: a node may refuse a batch and answer each call of it.
        if (ends !== undefined) member.health.report(true)
        finish(ends ?? none(), member)
      },
    })
  }
  const readAny = (answers: Buffer, member: GroupMember): (CallEnd | undefined)[] | undefined => {
    const found = readBatchAnswer(answers)
    if (found === undefined) return undefined
    return calls.map((_, index) => {
      const end = found.get(String(firstId + index))
      return end === undefined ? undefined : masked(end, member)
    })
  }
  const timer = setTimeout(() => {
    stop()
    done(none())
  }, deadlineMs)
  attempt(group.pick())
  return () => {
    clearTimeout(timer)
    stop()
  }
}
