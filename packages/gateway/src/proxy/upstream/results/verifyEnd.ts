import { rejections } from '../../../errors/rejections.ts'
import type { UpstreamGroup } from '../createUpstreamGroup.ts'
import { getNamedBlock } from '../heads/getNamedBlock.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import type { AttemptResult } from '../readAttempt.ts'
import { createResultCheck } from './createResultCheck.ts'

/**
 * Verifies that the result of an attempt is that of the call: a block, transaction or receipt has the hash or number that was requested, and logs are
 * inside the filter and in order. Another result is a bad response, so that another node is tried. Some nodes have no logs of a hash that they do not
 * know: that is confirmed like `null`.
 */
export const verifyEnd = (
  call: ForwardedCall,
  end: AttemptResult,
  { chainId, verifyResults, several }: Pick<UpstreamGroup, 'chainId' | 'verifyResults' | 'several'>,
): AttemptResult => {
  const shows = call.traits.row?.shows
  if (!verifyResults || shows === undefined || end.kind !== 'result' || !('value' in end.result)) return end
  const { value } = end.result
  if (createResultCheck(call, chainId)?.(value.toString('latin1')) === false)
    return { ...end, kind: 'badResponse', result: rejections.upstreamBad() }
  const hasNoLogs = several && shows === 'logs' && value.length === 2
  return hasNoLogs && getNamedBlock(call.method, call.params) === 'hash' ? { ...end, kind: 'null' } : end
}
