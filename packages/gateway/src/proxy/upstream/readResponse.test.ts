import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { readResponse, readBatchResponse, readPlainBatch } from './readResponse.ts'
import type { NodeResponse } from './readResponse.ts'

/** Enough for 100,000 cases on a busy machine. */
const fuzzTimeoutMs = 300_000

const value = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('"0x1"', '"0xabcdef"', 'true', 'null', '""', '"a b~"') },
  { weight: 1, arbitrary: fc.constantFrom('1', '{}', '[]', '"\\u0041"', '"é"', '"\u0001"') },
  { weight: 1, arbitrary: fc.string().map((text) => JSON.stringify(text)) },
)
const createResponses = (id: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(id, value, fc.nat({ max: 19 }))
    .map(([given, result, kind]) =>
      kind === 0
        ? `{"jsonrpc":"2.0","id":${given},"error":{"code":1,"message":"m"}}`
        : kind === 1
          ? `{"jsonrpc":"2.0","id":${given},"result":${result},"result":1}`
          : `{"jsonrpc":"2.0","id":${given},"result":${result}}`,
    )
const toText = (response: NodeResponse | undefined): unknown =>
  response === undefined ? undefined : { member: response.member, value: response.value.toString('latin1') }

describe('the fast path reads the same as the slow path:', () => {
  test('a response', { timeout: fuzzTimeoutMs }, () => {
    const ids = fc.constantFrom('7', '7', '7', '8', '"7"', '7.0', 'null')
    const responses = fc
      .tuple(createResponses(ids), fc.constantFrom('', '', '', '}', ' ', ','))
      .map(([text, end]) => text + end)
    let fast = 0
    fc.assert(
      fc.property(responses, (text) => {
        const slow = readResponse(Buffer.from(` ${text}`), '7')
        const read = readResponse(Buffer.from(text), '7')
        if (typeof read?.value === 'string') fast += 1
        expect(toText(read)).toEqual(toText(slow))
      }),
      { numRuns: fuzzCases(2_000) },
    )
    expect(fast).toBeGreaterThan(fuzzCases(2_000) / 10)
  })

  test('a batch', { timeout: fuzzTimeoutMs }, () => {
    const first = 41
    const batch = fc
      .array(createResponses(fc.constantFrom(...Array.from({ length: 20 }, () => '='), '41', '43', '"41"', '042')), {
        maxLength: 4,
      })
      .map((items) => `[${items.map((item, index) => item.replace('=', String(first + index))).join(',')}]`)
    const ended = fc.tuple(batch, fc.constantFrom('', '', '', ']', ' ', ',')).map(([text, end]) => text + end)
    let fast = 0
    fc.assert(
      fc.property(ended, fc.integer({ min: 1, max: 4 }), (text, count) => {
        const body = Buffer.from(text)
        const read = readPlainBatch(body, first, count)
        if (read === undefined) return
        fast += 1
        const slow = readBatchResponse(body)
        const ids = Array.from({ length: count }, (_, index) => String(first + index))
        expect(read.map(toText)).toEqual(ids.map((id) => toText(slow?.get(id))))
        expect(slow?.size).toBe(count)
      }),
      { numRuns: fuzzCases(2_000) },
    )
    expect(fast).toBeGreaterThan(fuzzCases(2_000) / 40)
  })
})
