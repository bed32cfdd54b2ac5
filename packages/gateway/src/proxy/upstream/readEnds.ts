import { rejections } from '../../errors/rejections.ts'
import type { CallScope } from './callScope.ts'
import type { Received, UpstreamResponse } from './postRequest.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import { readAttempt, readNodeResponse } from './readAttempt.ts'
import type { AttemptResult } from './readAttempt.ts'
import { readBatchResponse, readPlainBatch } from './readResponse.ts'
import type { NodeResponse } from './readResponse.ts'
import { observe, observeAttempt, recordHealth } from './sendAttempt.ts'
import type { Attempt } from './sendAttempt.ts'
import { verifyEnd } from './results/verifyEnd.ts'

/** Reads how an attempt at a single call ended, and records it in the upstream's health. */
export const readEnd = (
  call: ForwardedCall,
  attempt: Attempt,
  { group, maxResponseBytes }: CallScope,
  { fault, response }: Received,
): AttemptResult => {
  const { method, params, traits } = call
  const { idempotent, expensive } = traits
  const { member } = attempt
  if (fault === 'unsent') {
    observeAttempt(attempt, 'network')
    return { kind: 'network', isRejectedBeforeRun: true, member, result: rejections.noUpstream(group.network) }
  }
  const wireId = String(attempt.firstId)
  const read = readAttempt({ member, method, params, idempotent, wireId, maxResponseBytes }, fault, response)
  const end = verifyEnd(call, read, group)
  recordHealth(attempt, end.kind, expensive)
  observeAttempt(attempt, end.kind === 'null' ? 'result' : end.kind, end.retryAfterMs)
  return end
}

/**
 * Reads how an attempt at a batch ended for each of its calls, and records it in the upstream's health.
 * @returns `undefined` for a call without a valid response of its own, or in place of the list if the batch failed as a whole. Nothing is recorded then.
 */
export const readBatchEnds = (
  calls: readonly ForwardedCall[],
  attempt: Attempt,
  group: CallScope['group'],
  { fault, response }: Received,
): readonly (AttemptResult | undefined)[] | undefined => {
  const responses = fault === undefined ? readResponses(attempt, response) : undefined
  if (responses === undefined) return undefined
  const { member } = attempt
  let results = 0
  let failed: AttemptResult | undefined
  const ends = calls.map((call, index) => {
    const { method, params } = call
    const found = responses[index]
    const read = found && readNodeResponse({ member, method, params, idempotent: true, batch: true }, found, okStatus)
    const end = read && verifyEnd(call, read, group)
    if (end?.kind === 'result' || end?.kind === 'null') results += 1
    else {
      observe(attempt, end?.kind ?? 'badResponse', end?.retryAfterMs, { method, params, calls: 1 })
      failed = end ?? failed
    }
    return end
  })
  const kind = results === 0 && failed !== undefined && failed.kind !== 'null' ? failed.kind : 'result'
  attempt.trace?.end(kind)
  recordHealth(attempt, kind)
  if (results > 0) observe(attempt, 'result', undefined, { method: attempt.method, calls: results })
  return ends
}

const okStatus = { status: 200 }

const readResponses = (
  { calls, firstId }: Attempt,
  response: UpstreamResponse | undefined,
): readonly (NodeResponse | undefined)[] | undefined => {
  if (response === undefined || response.status < 200 || response.status >= 300) return undefined
  const plain = readPlainBatch(response.body, firstId, calls)
  if (plain !== undefined) return plain
  const found = readBatchResponse(response.body)
  return found && Array.from({ length: calls }, (_, index) => found.get(String(firstId + index)))
}
