import { describe, expect, test } from 'vitest'
import { createFailure } from '../../failure/createFailure.ts'
import type { FailureFacts } from '../../failure/failureFacts.ts'
import type { KeyrailError } from '../../failure/keyrailError.ts'
import { chooseFailure, mayTryNextEndpoint } from './routeFailure.ts'

const failure = (facts: Partial<FailureFacts>, redactedUrl = 'one', method = 'eth_call'): KeyrailError =>
  createFailure({ text: '', ...facts }, { method, redactedUrl })
const rpc = (code: number, message: string, status = 200): Partial<FailureFacts> => ({
  text: message,
  status,
  rpcError: { code, message },
})

const network: Partial<FailureFacts> = { kind: 'network', text: 'reset' }
const notConnected: Partial<FailureFacts> = { kind: 'network', text: 'ECONNREFUSED', unsent: true }
const auth: Partial<FailureFacts> = { text: 'Unauthorized', status: 401 }
const throttled: Partial<FailureFacts> = { text: 'slow down', status: 429, retryAfter: '30' }

describe('mayTryNextEndpoint', () => {
  test.each([
    ['network', network],
    ['unavailable', { text: 'x', status: 503 }],
    ['timeout', { kind: 'timeout', text: 'x' }],
    ['throttled', throttled],
    ['quota', { text: 'x', status: 402 }],
    ['auth', auth],
    ['forbidden', { text: 'x', status: 403 }],
    ['badResponse', { kind: 'badResponse', text: 'x' }],
    ['methodUnavailable', rpc(-32601, 'x')],
    ['missingData', rpc(-32000, 'missing trie node')],
    ['lagging', rpc(-32000, 'header not found')],
    ['unknown', rpc(12, "Can't route your request to suitable provider")],
    ['unknown', rpc(-39999, 'odd')],
    ['wrongNetwork', { kind: 'wrongNetwork', text: 'x' }],
  ] as const)('a read moves on after %s', (kind, facts) => {
    const failed = failure(facts)
    expect(failed.kind).toBe(kind)
    expect(mayTryNextEndpoint('eth_call', failed)).toBe(true)
  })

  test.each([
    ['revert', rpc(3, 'execution reverted')],
    ['invalidRequest', rpc(-32602, 'invalid params')],
    ['range', rpc(-32005, 'query returned more than 10000 results')],
    ['batchTooLarge', rpc(-32600, 'batch too large')],
    ['aborted', { kind: 'aborted', text: 'closed' }],
    ['unknown', { kind: 'unknown', text: 'fetch threw TypeError: x' }],
  ] as const)('nothing moves on after %s', (kind, facts) => {
    const failed = failure(facts)
    expect(failed.kind).toBe(kind)
    expect(mayTryNextEndpoint('eth_call', failed)).toBe(false)
  })

  test.each([
    [true, 'no connection', notConnected],
    [true, 'throttling', throttled],
    [true, 'a rejected key', auth],
    [true, 'a used-up quota', { text: 'x', status: 402 }],
    [true, 'an unavailable method', rpc(-32601, 'x')],
    [true, 'a network that the service rejects', { text: 'unsupported network', status: 403 }],
    [true, 'a budget of ours that is full', { kind: 'throttled', text: 'x', final: true }],
    [
      true,
      'a service that is draining',
      { text: 'x', status: 503, rpcError: { code: 1, message: 'x', data: { reason: 'draining' } } },
    ],
    [false, 'a broken connection', network],
    [false, 'no response in time', { kind: 'timeout', text: 'x' }],
    [false, 'a bad gateway', { text: 'x', status: 502 }],
    [false, 'a proxy that writes of a rate limit', { text: 'throttling: too many requests', status: 503 }],
    [true, 'a code of JSON-RPC for an unavailable method under HTTP 503', rpc(-32601, 'x', 503)],
    [false, 'words about a rate limit that a proxy may have written', rpc(-32000, 'too many requests')],
    [false, 'a proxy that writes of a key', { text: 'unauthorized: invalid API key', status: 500 }],
    [false, 'an unreadable response', { kind: 'badResponse', text: 'x' }],
    [false, 'a response from another chain', { kind: 'wrongNetwork', text: 'x' }],
    [false, 'an error that nobody knows', rpc(12, "Can't route your request to suitable provider")],
    [false, 'a nonce too low', rpc(-32000, 'nonce too low')],
  ] as const)('whether a transaction moves on is %s after %s', (moves, _, facts) => {
    const method = 'eth_sendRawTransaction'
    expect(mayTryNextEndpoint(method, failure(facts, 'one', method))).toBe(moves)
  })
})

describe('chooseFailure', () => {
  test('returns a single failure unchanged', () => {
    const failed = failure(network)
    expect(chooseFailure([failed])).toBe(failed)
  })

  test('prefers a retryable failure, so that the call is retried', () => {
    expect(chooseFailure([failure(auth), failure(network, 'two')])).toMatchObject({
      kind: 'network',
      redactedUrl: 'two',
      retryable: true,
    })
  })

  test('prefers the failure that the user must fix if none is retryable', () => {
    expect(chooseFailure([failure(rpc(-32601, 'x')), failure(auth, 'two')])).toMatchObject({
      kind: 'auth',
      redactedUrl: 'two',
    })
  })

  test('prefers a response of a node to no response', () => {
    expect(chooseFailure([failure(network), failure(rpc(-32000, 'header not found'), 'two')])).toMatchObject({
      kind: 'lagging',
    })
  })

  test('waits for the first endpoint that can be called again', () => {
    expect(chooseFailure([failure(throttled), failure({ ...throttled, retryAfter: '5' }, 'two')])).toMatchObject({
      kind: 'throttled',
      retryAfterMs: 5_000,
    })
    expect(chooseFailure([failure(throttled), failure(network, 'two')])).toMatchObject({
      kind: 'throttled',
      retryAfterMs: undefined,
    })
  })

  test('names every endpoint that was tried', () => {
    expect(chooseFailure([failure(auth), failure(network, 'two')]).message).toMatch(
      / 2 endpoints were tried: one \(auth\), two \(network\)\.$/,
    )
  })
})
