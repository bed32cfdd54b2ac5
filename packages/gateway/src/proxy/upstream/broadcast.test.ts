import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { expect, test } from 'vitest'
import { rejections } from '../../errors/rejections.ts'
import { chooseCopyEnd, toAcceptance } from './broadcast.ts'
import type { ForwardedCall } from './forwardedCall.ts'
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

test.each(['02c0', '05c0', '7bc0'])(
  'a node that knows a transaction 0x%s accepts it with the hash of its bytes',
  (raw) => {
    const call = { params: `["0x${raw}"]` } as ForwardedCall
    expect(toAcceptance(call, toEnd('txKnown'))).toMatchObject({
      kind: 'result',
      result: { member: 'result', value: `"0x${bytesToHex(keccak_256(hexToBytes(raw)))}"` },
    })
  },
)

test("the hash of ZKsync's own transactions is not that of their bytes, so the node's error is the response", () => {
  expect(toAcceptance({ params: '["0x71c0"]' } as ForwardedCall, toEnd('txKnown'))).toBeUndefined()
})
