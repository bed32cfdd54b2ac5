import { expect, test } from 'vitest'
import { rejections } from '../../errors/rejections.ts'
import { chooseCopyEnd } from './broadcast.ts'
import type { AttemptResult } from './readAttempt.ts'

const toEnd = (kind: AttemptResult['kind']): AttemptResult => ({
  kind,
  isRejectedBeforeRun: false,
  member: undefined as never,
  result: rejections.upstreamBusy(),
})

test.each([
  ['timeout', 'txRejected', 'timeout'],
  ['unconfirmed', 'txRejected', 'unconfirmed'],
  // There was no room for the response of a node, which may be an acceptance.
  ['aborted', 'txRejected', 'aborted'],
  ['methodUnavailable', 'txRejected', 'txRejected'],
] as const)('of a copy that ended with %s and one with %s, the caller gets %s', (one, other, chosen) => {
  expect(chooseCopyEnd(toEnd(one), toEnd(other)).kind).toBe(chosen)
  expect(chooseCopyEnd(toEnd(other), toEnd(one)).kind).toBe(chosen)
})
