import { removeFrom } from '../../lib/removeFrom.ts'
import { endRun, release } from './forwardRun.ts'
import type { Run } from './forwardRun.ts'
import { openResponseStream } from './openResponseStream.ts'
import type { FlowControl, ResponseConsumer } from './postRequest.ts'
import { createResultCheck } from './results/createResultCheck.ts'
import { observe, recordHealth, recordStream } from './sendAttempt.ts'
import type { Attempt } from './sendAttempt.ts'

/** Ends the call of a run with a stream, if the response is a result that the caller accepts as one. */
export const openStream = (
  run: Run,
  attempt: Attempt,
  { head, flow, mayStream }: { head: readonly Buffer[]; flow: FlowControl; mayStream: () => boolean },
): ResponseConsumer | undefined => {
  if (run.over) return undefined
  const { group, timeoutMs } = run.scope
  const [call] = run.calls
  const opened = openResponseStream(String(attempt.firstId), {
    head,
    flow,
    idleMs: timeoutMs,
    check: group.verifyResults && call !== undefined ? createResultCheck(call, group.chainId) : undefined,
    onWrong: () => {
      recordHealth(attempt, 'badResponse')
      observe(attempt, 'badResponse')
    },
  })
  if (opened === undefined || !mayStream()) return undefined
  const { consumer, stream } = opened
  recordStream(attempt)
  removeFrom(run.open, attempt)
  endRun(run, 'aborted')
  run.done({ member: 'result', stream }, attempt.member, 0)
  const onEnd = (): void => release(run)
  if (!stream.started()) {
    stream.stop()
    onEnd()
  }
  return withOnEnd(consumer, onEnd)
}

/** Calls a function after a consumer got its last chunk. */
const withOnEnd = (consumer: ResponseConsumer, onEnd: () => void): ResponseConsumer => ({
  data: consumer.data,
  end: () => {
    consumer.end()
    onEnd()
  },
  fail: () => {
    consumer.fail()
    onEnd()
  },
})
