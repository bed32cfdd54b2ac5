import { describe, expect, test } from 'vitest'
import type { RecordedRequest } from './requestRecorder.ts'
import { getLogTime } from './logId.ts'
import { toRequestRow } from './toRequestRow.ts'

const key = 'kr_aNotARealKey0123456789abcdefghijklmnop'
const otherKey = 'kr_tW7hQ2vLx9RbN4kZs8FjT1yGcM6dPq3XwUaE5oV'
const token = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJub2JvZHkifQ.c2lnbmF0dXJl'
const at = Date.UTC(2026, 10, 21)

const toRow = (request: Partial<RecordedRequest> = {}) =>
  toRequestRow(
    {
      keyId: 'key_1',
      method: 'eth_call',
      outcome: 'succeeded',
      error: undefined,
      status: 200,
      durationMs: 1.2345,
      network: 'testnet',
      requestId: 'a-request',
      calls: 1,
      failedCalls: 0,
      storedCalls: 0,
      secrets: [key, token],
      keyEnding: 'mnop',
      origin: 'https://dapp.example',
      ip: '203.0.113.7',
      requestBytes: 70,
      responseBytes: 40,
      transport: 'http',
      params: undefined,
      response: undefined,
      ...request,
    },
    at,
    new Map(),
  )

test('a row has the time in its id, the block of the IP address, and no excerpts unless they are recorded', () => {
  const { request, excerpts } = toRow()
  expect(request.id).toMatch(/^log_[0-9a-z]{20}$/)
  expect(getLogTime(request.id)).toBe(at)
  expect(request).toMatchObject({ at, method: 'eth_call', durationUs: 1_235, ipBlock: '203.0.113.0/24', code: null })
  expect(excerpts).toBeUndefined()
  expect(toRow({ params: '[]' }).excerpts).toEqual({ params: '[]', response: null })
})

test('ids of later requests are greater', () => {
  const ids = [0, 1, 35, 36, 1_000].map(
    (ms) => toRequestRow({ ...recorded, requestId: 'x' }, at + ms, new Map()).request.id,
  )
  expect(ids.toSorted()).toEqual(ids)
})
const recorded: RecordedRequest = {
  ...({} as RecordedRequest),
  keyId: 'key_1',
  outcome: 'succeeded',
  durationMs: 1,
  secrets: [],
}

describe('no text of a row has a secret', () => {
  const dashed = key.split('').join('-')
  test.each([
    ['the key', key],
    ['the key in base64', Buffer.from(key).toString('base64')],
    ['the key in another case', key.toUpperCase()],
    ['the key with other characters in between', dashed],
    ['another key', otherKey],
    ['the token', token],
    ['another token', `${token.slice(0, 30)}.${token.slice(30, 50)}.x`],
    ['a URL with a password', 'https://user:hunter22@node.example'],
  ])('%s', (_, secret) => {
    const text = `before ${secret} after`
    const { request, excerpts } = toRow({
      method: secret,
      origin: text,
      error: { code: 1, message: text },
      params: JSON.stringify([text]),
      response: JSON.stringify(text),
    })
    const found = toRow({ error: { text: JSON.stringify({ code: -32_000, message: text }) } })
    const all = JSON.stringify([request, excerpts, found])
    expect(all).not.toContain(secret)
    for (const part of [secret.slice(0, 12), secret.slice(8, 22), secret.slice(-12)].filter(
      (one) => secret.includes('kr_') && one !== '',
    ))
      expect(all).not.toContain(part)
    expect(request.message).toMatch(/^before .* after$/)
  })

  test('a key that an excerpt would cut', () => {
    const params = `["${'x'.repeat(1_005)}${otherKey}"]`
    const { excerpts } = toRow({ params: params.slice(0, 1_280) })
    expect(excerpts?.params).toHaveLength(1_010)
    expect(excerpts?.params).not.toContain('kr_t')
  })
})

test('long texts are cut', () => {
  const long = 'x'.repeat(1_280)
  const { request, excerpts } = toRow({
    method: long,
    origin: long,
    error: { code: 1, message: long },
    params: long,
    response: long,
  })
  const lengths = [request.method, request.origin, request.message, excerpts?.params, excerpts?.response]
  expect(lengths.map((text) => text?.length)).toEqual([64, 200, 200, 1_024, 1_024])
})

test('revert data is stored up to 16 words, only of a revert', () => {
  const data = `0xdeadbeef${'0'.repeat(63)}1`
  const toData = (outcome: RecordedRequest['outcome'], text: string): string | null =>
    toRow({ outcome, error: { text } }).request.revertData
  const text = JSON.stringify({ code: 3, message: 'execution reverted', data })
  expect(toData('reverted', text)).toBe(data)
  expect(toData('nodeError', text)).toBeNull()
  expect(toData('reverted', '{"code":3,"message":"execution reverted"}')).toBeNull()
  expect(toData('reverted', JSON.stringify({ code: 3, data: `0xdeadbeef${'ab'.repeat(600)}` }))).toHaveLength(1_034)
})

test('control characters and half characters are replaced, which PostgreSQL could not store', () => {
  const odd = 'a\u{0}b\u{1B}c\u{D800}d'
  const { request, excerpts } = toRow({ method: odd, error: { code: 1, message: odd }, params: '[\n\t1]' })
  expect([request.method, request.message]).toEqual(['a\u{FFFD}b\u{FFFD}c\u{FFFD}d', 'a\u{FFFD}b\u{FFFD}c\u{FFFD}d'])
  expect(excerpts?.params).toBe('[\n\t1]')
})

test.each<[string, string, number | null, string | null]>([
  ['an error', '{"code":3,"message":"execution reverted","data":"0x"}', 3, 'execution reverted'],
  ['an error that is cut', `{"code":-32000,"message":"out of gas","data":"0x${'0'.repeat(90)}`, -32_000, 'out of gas'],
  ['an error whose message is cut', '{"code":-32000,"message":"out of', -32_000, 'out of'],
  ['another code first', '{"data":{"code":1},"message":"no"', null, 'no'],
  ['no code', '{"message":"no"}', null, 'no'],
  ['a code that is a text', '{"code":"ENOENT","message":["no"]}', null, null],
  ['a code that is no whole number', '{"code":1.5}', null, null],
])('reads the code and the message of %s', (_, text, code, message) => {
  expect(toRow({ error: { text } }).request).toMatchObject({ code, message })
})
