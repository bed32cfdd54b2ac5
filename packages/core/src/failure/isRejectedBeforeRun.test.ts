import { describe, expect, test } from 'vitest'
import { createFailure } from './createFailure.ts'
import type { FailureFacts } from './failureFacts.ts'
import { isRejectedBeforeRun } from './isRejectedBeforeRun.ts'

const write = { method: 'eth_sendRawTransaction', redactedUrl: 'https://node.example/v2/…' }
const rejected = (facts: FailureFacts): boolean => isRejectedBeforeRun(createFailure(facts, write))
const rpc = (code: number, message: string): Partial<FailureFacts> => ({ rpcError: { code, message } })

describe('a write was not run', () => {
  test.each<[string, FailureFacts]>([
    ['a 429', { text: 'slow down', status: 429 }],
    ['a rate limit code', { text: 'rate limit exceeded', status: 200, ...rpc(-32_005, 'rate limit exceeded') }],
    ['our own budget', { text: 'the budget is used up', kind: 'throttled' }],
    ['our own queue', { text: 'waited 60000 ms in the queue', kind: 'throttled', unsent: true, final: true }],
    ['a 401', { text: 'unauthorized', status: 401 }],
    ['a 403', { text: 'forbidden', status: 403 }],
    ['a 402', { text: 'payment required', status: 402 }],
    [
      'an unknown method',
      { text: 'the method does not exist', status: 200, ...rpc(-32_601, 'the method does not exist') },
    ],
    ['an unknown method under 500', { text: 'no such method', status: 500, ...rpc(-32_601, 'no such method') }],
    ['invalid params under 500', { text: 'invalid params', status: 500, ...rpc(-32_602, 'invalid params') }],
    ['a refused connection', { text: 'connect ECONNREFUSED', kind: 'network', unsent: true }],
    ['close()', { text: 'the transport is closed', kind: 'aborted' }],
  ])('%s', (_name, facts) => {
    expect(rejected(facts)).toBe(true)
  })
})

describe('a write may have been run', () => {
  const words = [
    'too many requests',
    'rate limit exceeded',
    'slow down',
    'quota exceeded',
    'monthly limit reached',
    'unauthorized',
    'invalid api key',
    'access denied',
    'method not found',
    'network not supported',
    'batch too large',
  ]

  test.each([500, 502, 503, 504, 520])('HTTP %i, with any words', (status) => {
    for (const text of words) {
      expect(rejected({ text, status }), text).toBe(false)
      expect(rejected({ text, status, ...rpc(-32_000, text) }), text).toBe(false)
      expect(rejected({ text, status, ...rpc(-32_005, text) }), text).toBe(false)
    }
  })

  test.each([
    ['throttling by words alone', { text: 'too many requests', status: 200, ...rpc(-32_000, 'too many requests') }],
    ['a lost connection', { text: 'ECONNRESET', kind: 'network' }],
    ['no response in time', { text: 'no response within 10 s', kind: 'timeout' }],
    ['a rejection by the transaction pool', { text: 'nonce too low', status: 200, ...rpc(-32_000, 'nonce too low') }],
    ['a page that is no JSON', { text: 'welcome', status: 200, kind: 'badResponse' }],
  ] as const)('%s', (_name, facts) => {
    expect(rejected(facts)).toBe(false)
  })
})
