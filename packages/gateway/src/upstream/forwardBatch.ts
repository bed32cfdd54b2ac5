import { refusals } from '../refusal/refusals.ts'
import type { ByteBudget } from './createUpstream.ts'
import type { GroupMember, UpstreamGroup } from './createUpstreamGroup.ts'
import { nextWireId, wireText } from './forwardCall.ts'
import type { CallEnd, ForwardedCall } from './forwardCall.ts'
import { maskSecrets } from './maskSecrets.ts'
import { readBatchAnswer } from './readAnswer.ts'
import type { NodeAnswer } from './readAnswer.ts'

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
  const wireIds = calls.map(() => nextWireId())
  const body = `[${calls.map((call, index) => wireText(call, wireIds[index] ?? '')).join(',')}]`
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
        const found = readBatchAnswer(answer.body)
        // Only what is good is told: a node may refuse a batch and answer each call of it.
        if (found !== undefined) member.health.report(true)
        const { secrets } = member.upstream
        finish(found === undefined ? none() : wireIds.map((wireId) => masked(found.get(wireId), secrets)), member)
      },
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

const masked = (answer: NodeAnswer | undefined, secrets: readonly string[]): NodeAnswer | undefined =>
  answer?.member === 'error' ? { ...answer, value: maskSecrets(answer.value, secrets) } : answer
