import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFailure } from '../failure/createFailure.ts'
import { readResponse } from './readResponse.ts'

const read = (body: unknown, status = 200, headers: Record<string, string> = {}): ReturnType<typeof readResponse> =>
  readResponse(
    { status, text: typeof body === 'string' ? body : JSON.stringify(body), header: (name) => headers[name] },
    { id: 1, method: 'eth_blockNumber' },
  )

describe('readResponse', () => {
  test.each([null, false, 0, '', '0x1', [], {}, { error: 'x' }])('accepts the result %j', (result) => {
    expect(read({ jsonrpc: '2.0', id: 1, result })).toEqual({ result })
  })

  test('accepts a result with a null error, and without a version', () => {
    expect(read({ id: 1, result: '0x1', error: null })).toEqual({ result: '0x1' })
  })

  test('accepts no result without a valid status', () => {
    expect(read({ jsonrpc: '2.0', id: 1, result: '0x1' }, 500)).not.toHaveProperty('result')
  })

  test('reads the wait from the headers', () => {
    expect(read('', 429, { 'retry-after': '2', date: 'today' })).toMatchObject({
      status: 429,
      retryAfter: '2',
      date: 'today',
    })
  })

  test('leaves the error object unchanged', () => {
    const error = { code: 3, message: 'execution  reverted', data: '0x', more: 1 }
    expect(read({ jsonrpc: '2.0', id: 1, error })).toMatchObject({ rpcError: error, text: 'execution reverted' })
  })

  test.each([
    [{}, 0],
    [{ code: '429', message: null }, 429],
    [{ code: 1.9, message: 5 }, 1],
    [{ code: {}, message: [] }, 0],
  ])('makes %j well formed', (error, code) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error })
    expect(read(body)).toMatchObject({ rpcError: { code, message: body } })
  })

  test('does not show where a redirect leads', () => {
    for (const status of [0, 301, 302, 307, 308])
      expect(
        JSON.stringify(read('https://other.example/', status, { location: 'https://other.example/' })),
      ).not.toContain('other.example')
  })

  const expectNamed = (read: ReturnType<typeof readResponse>): void => {
    if ('result' in read) return
    const error = createFailure(read, { method: 'eth_blockNumber', redactedUrl: 'https://node.example/…' })
    expect(error.kind).toMatch(/^[a-z][A-Za-z]+$/)
    expect(typeof error.message).toBe('string')
    if (error.rpcError) {
      expect(Number.isInteger(error.rpcError.code)).toBe(true)
      expect(typeof error.rpcError.message).toBe('string')
    }
  }

  const statuses = fc.oneof(fc.constant(200), fc.nat(999))

  test('never throws, and returns a result or a failure, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), statuses, (bytes, status) => {
        expectNamed(read(new TextDecoder().decode(bytes), status))
      }),
      { numRuns: 500 },
    )
  })

  test('never throws, and returns a result or a failure, for any JSON', () => {
    const member = fc.oneof(
      fc.jsonValue(),
      fc.record({ code: fc.jsonValue(), message: fc.jsonValue(), data: fc.jsonValue() }),
    )
    const envelope = fc.record(
      { id: fc.oneof(fc.constant(1), fc.jsonValue()), result: member, error: member, message: member, errors: member },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), envelope, fc.array(envelope, { maxLength: 2 })),
        statuses,
        (body, status) => {
          expectNamed(read(body, status))
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('never returns the result of another call', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (id, result) => {
        fc.pre(id !== 1 && id !== '1')
        expect(read({ jsonrpc: '2.0', id, result })).not.toHaveProperty('result')
      }),
    )
  })

  test('accepts any depth of nesting', () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    expectNamed(read(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x","data":${deep}}}`))
    expectNamed(read(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":${deep}}}`))
    expectNamed(read(deep))
  })
})
