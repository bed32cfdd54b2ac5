import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ACCEPTED_GROWTH, costGrowth } from '../../test/costGrowth.ts'
import { classify } from './classify.ts'
import { createFailure } from './createFailure.ts'
import { KeyrailError } from './keyrailError.ts'

const redactedUrl = 'https://node.example/v2/…wxyz'
const key = 'notARealKey0123456789wxyz'
const read = { method: 'eth_blockNumber', redactedUrl }
const write = { method: 'eth_sendRawTransaction', redactedUrl }

describe('createFailure', () => {
  test('takes time linear in the length of error data made of one letter of 32 secrets', () => {
    const secrets = Array.from({ length: 32 }, (_, at) => `${'k'.repeat(40)}${at}`)
    const growth = costGrowth(60_000, (size) => {
      const rpcError = { code: -32000, message: 'x', data: 'k'.repeat(size) }
      return () => createFailure({ text: 'x', rpcError }, { ...read, secrets })
    })
    expect(growth).toBeLessThan(ACCEPTED_GROWTH)
  })

  test('does not throw on hostile members, and can be written as JSON', () => {
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown
    const members = '"toString":0,"valueOf":0,"toJSON":0,"__proto__":{"reason":0},"constructor":0'
    const hostile = JSON.parse(`{${members}}`) as unknown
    const reasons = JSON.parse(`{"reason":{${members}},"requestId":{${members}},${members}}`) as unknown
    const hard = fc.constantFrom(deep, hostile, reasons, { reason: deep }, [hostile])
    const anything = fc.oneof(
      hard,
      fc.jsonValue(),
      fc.jsonValue().map((reason) => ({ reason })),
    )
    fc.assert(
      fc.property(anything, anything, anything, (data, code, message) => {
        const rpcError = { code: code as number, message: message as string, data }
        for (const context of [read, { ...write, secrets: [key] }]) {
          const error = createFailure({ text: 'x', rpcError }, context)
          expect(error).toBeInstanceOf(KeyrailError)
          expect(JSON.stringify(error).length).toBeLessThan(70_000)
          expect(classify({ text: 'x', rpcError }, context.method)?.kind ?? 'unknown').toBeTypeOf('string')
        }
      }),
    )
  })

  test.each([
    [429, undefined, true],
    [200, -32005, true],
    [200, -32007, true],
    [200, -32009, true],
    [200, -32017, true],
    [200, 429, true],
    [200, -32000, false],
    [500, -32005, false],
    [503, -32005, false],
    [403, undefined, false],
  ])('resends a throttled write with status %s and code %s: %s', (status, code, retryable) => {
    const rpcError = code === undefined ? undefined : { code, message: 'too many requests' }
    const facts = { text: 'too many requests', status, rpcError }
    expect(createFailure(facts, write)).toMatchObject({ kind: 'throttled', retryable })
    expect(createFailure(facts, read)).toMatchObject({ kind: 'throttled', retryable: true })
  })

  test('writes method, kind, status, code, redactedUrl and the words of the server', () => {
    const rpcError = { code: -32005, message: 'rate   limit\nexceeded.' }
    const error = createFailure({ text: 'rate   limit\n exceeded.', status: 429, rpcError }, read)
    expect(error).toBeInstanceOf(KeyrailError)
    expect(error.message).toBe(
      `eth_blockNumber failed (throttled, HTTP 429, code -32005, ${redactedUrl}): rate limit exceeded.`,
    )
    expect(error).toMatchObject({ method: read.method, redactedUrl, status: 429, rpcError })
  })

  test('shows nothing of words that are too long to be searched for secrets', () => {
    const error = createFailure({ text: 'x'.repeat(70_000), status: 503 }, read)
    expect(error.message).toBe(`eth_blockNumber failed (unavailable, HTTP 503, ${redactedUrl}): ….`)
  })

  test.each([
    ['draining', true],
    ['no_upstream', true],
    ['key_store_unavailable', true],
    ['was_draining', false],
    ['draining_done', false],
    ['no_upstream_answered', false],
    ['key_store_down', false],
    ['upstream_failed', false],
    [{ toString: 0, valueOf: 0 }, false],
    [undefined, false],
  ])('retries a write if the service reports why it did not forward the call: %j: %s', (reason, retryable) => {
    const rpcError = { code: -32000, message: 'Service Unavailable', data: { reason } }
    const error = createFailure({ text: rpcError.message, status: 503, rpcError }, write)
    expect(error).toMatchObject({ kind: 'unavailable', retryable })
  })

  test('leaves out the status if there was no response', () => {
    expect(createFailure({ kind: 'aborted', text: 'the transport is closed' }, read).message).toBe(
      `eth_blockNumber failed (aborted, ${redactedUrl}): the transport is closed.`,
    )
  })

  test('masks the secrets in message and rpcError, and cuts only then', () => {
    const text = `${'x'.repeat(290)} /v2/${key} is unknown`
    const rpcError = { code: 1, message: text, data: { url: encodeURIComponent(key), [key]: [key] } }
    const error = createFailure({ text, rpcError }, { ...read, secrets: [key] })
    expect(JSON.stringify(error) + error.message + error.stack).not.toContain(key.slice(0, 8))
    expect(error.rpcError).toEqual({ ...rpcError, message: text.replace(key, '…'), data: { url: '…', '…': ['…'] } })
  })

  test('leaves an error object without secrets unchanged', () => {
    const rpcError = { code: 3, message: 'execution reverted', data: { deep: [null, 1.5, 'Reverted 0x'] } }
    expect(createFailure({ text: rpcError.message, rpcError }, { ...read, secrets: [key] }).rpcError).toEqual(rpcError)
  })

  test('adds no data to an error without data', () => {
    const rpcError = { code: -32000, message: 'header not found' }
    expect(createFailure({ text: rpcError.message, rpcError }, read).rpcError).not.toHaveProperty('data')
  })

  test('shows a code and no data if masking would cut a number', () => {
    const rpcError = { code: -32000, message: 'x', data: { n: 12345678 } }
    const error = createFailure({ text: 'x', rpcError }, { ...read, secrets: ['12345678abcd'] })
    expect(error.rpcError).toEqual({ code: -32000, message: '…' })
  })

  test.each([
    ['network', 'transport', true, false],
    ['badResponse', 'transport', true, false],
    ['timeout', 'client', true, false],
    ['aborted', 'client', false, false],
    ['throttled', 'client', true, true],
    ['quota', 'client', false, false],
    ['invalidRequest', 'client', false, false],
    ['wrongNetwork', 'client', false, false],
    ['unconfirmed', 'client', false, false],
  ] as const)(
    'takes the kind %s as decided: source %s, retried for a read: %s, for a write: %s',
    (kind, source, ...retried) => {
      expect(createFailure({ kind, text: 'x' }, read)).toMatchObject({ kind, source, retryable: retried[0] })
      expect(createFailure({ kind, text: 'x' }, write)).toMatchObject({ kind, source, retryable: retried[1] })
    },
  )

  test('a write may be repeated if nothing was sent', () => {
    expect(createFailure({ kind: 'network', text: 'ECONNREFUSED', unsent: true }, write).retryable).toBe(true)
  })

  test('a subscription may be repeated: the first one ended with its connection', () => {
    const subscribe = { ...write, method: 'eth_subscribe' }
    expect(createFailure({ kind: 'timeout', text: 'no response' }, subscribe).retryable).toBe(true)
    expect(createFailure({ kind: 'badResponse', text: 'no id', final: true }, subscribe).retryable).toBe(false)
  })

  test('a failure that would repeat is not retryable', () => {
    expect(createFailure({ kind: 'badResponse', text: 'too large', final: true }, read).retryable).toBe(false)
  })
})

test.each([
  ['the method eth_blockNumbr does not exist: did you mean eth_blockNumber?', 'did you mean eth_blockNumber?'],
  ['over rate limit... ', 'over rate limit.'],
  ['over rate limit', 'over rate limit.'],
])('a message does not end with "?.": %s', (text, end) => {
  expect(createFailure({ text }, { method: 'eth_call', redactedUrl: '' }).message).toSatisfy((message: string) =>
    message.endsWith(end),
  )
})
