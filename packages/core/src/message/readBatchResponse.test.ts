import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readBatchResponse } from './readBatchResponse.ts'
import type { BatchEntryRead } from './readBatchResponse.ts'

const read = (body: unknown, count = 3, status = 200, headers: Record<string, string> = {}) =>
  readBatchResponse(
    { status, text: typeof body === 'string' ? body : JSON.stringify(body), header: (name) => headers[name] },
    5,
    count,
  )
const ok = (id: unknown, result: unknown = `r${String(id)}`): object => ({ jsonrpc: '2.0', id, result })
const errorEntry = (id: unknown, message: string, code = -32000): object => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})
const results = (reads: ReturnType<typeof read>): unknown[] =>
  (reads as readonly BatchEntryRead[]).map((one) => ('result' in one ? one.result : one.kind))

describe('readBatchResponse', () => {
  test('matches entries by id, in any order', () => {
    expect(results(read([ok(7), ok(5), ok(6)]))).toEqual(['r5', 'r6', 'r7'])
    expect(results(read([ok('7'), ok('5'), ok(6)]))).toEqual(['r5', 'r6', 'r7'])
  })

  test('keeps null, false and empty results', () => {
    expect(results(read([ok(5, null), ok(6, false), ok(7, '')]))).toEqual([null, false, ''])
  })

  test.each([
    ['is missing', [ok(5), ok(7)]],
    ['comes twice', [ok(6), ok(5), ok(6), ok(7)]],
    ['comes twice, once as an error', [ok(6), ok(5), errorEntry(6, 'x'), ok(7)]],
    ['is null', [ok(5), ok(null), ok(7)]],
    ['is a word', [ok(5), ok('six'), ok(7)]],
    ['is almost the same as a text', [ok(5), ok('06'), ok(7)]],
    ['comes twice, once as a text', [ok(6), ok(5), ok('6'), ok(7)]],
    ['is a fraction', [ok(5), ok(6.5), ok(7)]],
    ['belongs to another batch', [ok(5), ok(106), ok(7)]],
    ['has neither a result nor an error', [ok(5), { id: 6 }, ok(7)]],
    ['has both', [ok(5), { id: 6, result: 1, error: { code: 1, message: 'x' } }, ok(7)]],
    ['is in an entry that is not an object', [ok(5), 6, null, 'x', [ok(6)], ok(7)]],
  ])('fails exactly the call whose id %s', (_, body) => {
    expect(results(read(body))).toEqual(['r5', 'badResponse', 'r7'])
  })

  test('ignores entries with unknown ids', () => {
    expect(results(read([ok(5), ok(6), ok(7), ok(8), ok(4), ok('4'), ok(null), errorEntry(null, 'x')]))).toEqual([
      'r5',
      'r6',
      'r7',
    ])
  })

  test('reads an error object as the failure of its call, and reports that it was in a batch', () => {
    const [, second] = read([ok(5), errorEntry(6, 'execution reverted', 3), ok(7)]) as BatchEntryRead[]
    expect(second).toMatchObject({
      text: 'execution reverted',
      rpcError: { code: 3, message: 'execution reverted' },
      status: 200,
      batch: true,
      kind: undefined,
    })
  })

  test('ignores results under an error status, but reads errors', () => {
    const [first, second] = read([ok(5), errorEntry(6, 'slow down', 429)], 2, 429, {
      'retry-after': '2',
    }) as BatchEntryRead[]
    expect(first).toMatchObject({ status: 429, retryAfter: '2', batch: true })
    expect(first).not.toHaveProperty('result')
    expect(second).toMatchObject({ status: 429, text: 'slow down', rpcError: { code: 429 } })
  })

  test.each([
    ['one object without an id', errorEntry(null, 'batch too large')],
    ['one object with the id of a call', errorEntry(5, 'batch too large')],
    ['one object with another id', errorEntry(0, 'batch too large')],
    ['an array of one error without an id', [errorEntry(null, 'batch too large')]],
    ['an error without an id for each', [1, 2, 3].map(() => errorEntry(null, 'batch too large'))],
  ])('treats %s as a rejection of the whole batch', (_, body) => {
    expect(read(body)).toMatchObject({ text: 'batch too large', rpcError: { code: -32000 }, batch: true })
  })

  test.each([
    ['no JSON', '<html><title>Welcome</title></html>', 'badResponse'],
    ['a truncated array', '[{"id":5,"result":1},', 'badResponse'],
    ['nothing', '', 'badResponse'],
    ['a number', '5', 'badResponse'],
    ['null', 'null', 'badResponse'],
  ])('fails all calls alike if the response is %s', (_, body, kind) => {
    expect(read(body)).toMatchObject({ kind, batch: true })
  })

  test.each([
    ['an empty array', [], '', false],
    ['an array of other ids', [ok(1), ok('9'), ok(null), ok(9)], ', but there is one with id 1, "9", null', true],
    ['a lone result with another id', ok(99), ', but there is one with id 99', true],
    ['a single result without an id', ok(undefined), ', but there is one with id (none)', true],
    ['no objects', [1, null, 'x'], '', false],
  ])('names the id of each call that has no response if %s came', (_, body, instead, final) => {
    const reads = read(body) as readonly BatchEntryRead[]
    expect(reads).toHaveLength(3)
    for (const [at, one] of reads.entries())
      expect(one).toMatchObject({
        kind: 'badResponse',
        batch: true,
        final,
        text: `no response in the batch has request id ${5 + at}${instead}`,
      })
  })

  test('fails all calls under an error status or a redirect', () => {
    expect(read('<html><title>502 Bad Gateway</title></html>', 3, 502)).toMatchObject({
      status: 502,
      text: '502 Bad Gateway',
    })
    for (const status of [0, 301, 307])
      expect(read([ok(5), ok(6), ok(7)], 3, status)).toMatchObject({ kind: 'badResponse', final: true })
  })

  test('accepts results under every success status, and reads errors under 400', () => {
    for (const status of [200, 201, 299])
      expect(results(read([ok(5), ok(6), ok(7)], 3, status))).toEqual(['r5', 'r6', 'r7'])
    const [first, second] = read(
      [errorEntry(6, 'execution reverted', 3), errorEntry(5, 'slow down')],
      2,
      400,
    ) as BatchEntryRead[]
    expect(first).toMatchObject({ status: 400, text: 'slow down' })
    expect(second).toMatchObject({ status: 400, text: 'execution reverted', rpcError: { code: 3 } })
  })

  test('rejects a single object with both a result and an error', () => {
    expect(read({ ...ok(5), ...errorEntry(5, 'slow down') })).toMatchObject({ kind: 'badResponse', batch: true })
  })

  test('says so if an error has no message', () => {
    const [, second] = read([ok(5), { id: 6, error: { code: -32000 } }, ok(7)]) as BatchEntryRead[]
    expect(second).toMatchObject({ text: '', problem: 'the error has no message', rpcError: { code: -32000 } })
  })

  test('gives a call without an entry the wait that the server requests', () => {
    const headers = { 'retry-after': '2', date: 'Thu, 01 Jan 2026 12:00:00 GMT' }
    const [, second] = read([ok(5), ok(7)], 3, 200, headers) as BatchEntryRead[]
    expect(second).toMatchObject({ kind: 'badResponse', retryAfter: '2', date: headers.date, status: 200 })
  })

  test('accepts a single result with the id of a call, for that call', () => {
    expect(results(read(ok(6)))).toEqual(['badResponse', 'r6', 'badResponse'])
  })

  test('gives an error without an id to the calls without an entry, if it is unambiguous which they are', () => {
    const words = (body: unknown): unknown[] =>
      (read(body) as BatchEntryRead[]).map((one) => ('result' in one ? one.result : one.text))
    expect(words([ok(5), errorEntry(null, 'slow down'), ok(7)])).toEqual(['r5', 'slow down', 'r7'])
    expect(words([errorEntry(null, 'slow down'), ok(7), errorEntry(null, 'slow down')])).toEqual([
      'slow down',
      'slow down',
      'r7',
    ])
    expect(words([ok(7), errorEntry(null, 'batch of more than 1')])[1]).toBe('batch of more than 1')
    // It is ambiguous which call it belongs to.
    for (const unclear of [
      [ok(7), ok(5), errorEntry(99, 'slow down')],
      [ok(7), errorEntry(99, 'batch of more than 1')],
      [ok(7), errorEntry('9', 'batch of more than 1'), errorEntry(99, 'batch of more than 1')],
      [ok(7), ok(null), ok(null)],
      [ok(7), null, { id: null }],
      [ok(7), errorEntry(null, 'execution reverted')],
      [ok(7), errorEntry(null, 'execution reverted'), errorEntry(null, 'slow down')],
    ])
      expect(
        words(unclear).filter(
          (text) => !/^r\d$/.test(String(text)) && !String(text).includes('no response in the batch'),
        ),
      ).toEqual([])
  })

  test('reads errors without an id that are nested too deep to be compared', () => {
    const deep = `{"id":null,"error":{"code":1,"message":"slow down","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
    const [first, ...others] = read(`[{"id":5,"result":"r5"},${deep},${deep}]`) as BatchEntryRead[]
    expect(first).toMatchObject({ result: 'r5' })
    for (const one of others) expect(one).toMatchObject({ text: 'slow down' })
  })

  test('gives every call its own response or a failure, for any entries in any order', () => {
    const entry = fc.oneof(
      fc.integer({ min: 3, max: 16 }).map((id) => ok(id)),
      fc.integer({ min: 3, max: 16 }).map((id) => errorEntry(id, `e${id}`)),
      fc.constantFrom(
        ok(null),
        errorEntry(null, 'batch'),
        ok('6'),
        ok(5.5),
        ok(-5),
        ok(true),
        ok([5]),
        ok({}),
        5,
        null,
        'x',
        [],
      ),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 16 }), fc.integer({ min: 1, max: 10 }), (body, count) => {
        const reads = read(body, count)
        for (let at = 0; at < count; at++) {
          const id = 5 + at
          const own = (body as { id?: unknown; result?: unknown }[]).filter((item) =>
            [id, String(id)].includes(Object(item).id),
          )
          const one = 'length' in reads ? (reads[at] as BatchEntryRead) : reads
          if ('result' in one) {
            expect(own).toHaveLength(1)
            expect(one.result).toEqual(own[0]?.result)
          } else {
            expect(one).toMatchObject({ batch: true, text: expect.stringMatching(/./) })
            if (/^e\d+$/.test(one.text)) expect(one.text).toBe(`e${id}`)
          }
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('reads any text without throwing', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((json) => `[${json}]`),
    )
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 599 }), (body, status) => {
        const reads = read(body, 2, status)
        expect('length' in reads ? reads.length : 2).toBe(2)
      }),
      { numRuns: 1_000 },
    )
  })
})
