import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { openResponseStream } from './openResponseStream.ts'
import { readResponse } from './readResponse.ts'

/** For 100,000 cases on a busy machine. */
const fuzzTimeoutMs = 300_000

const wireId = '77'

/** Streams an answer that comes in pieces, the first of which are its head, to a sink that now and then says to wait. */
const streamed = (
  body: Buffer,
  { head, pieces, waits }: { head: number; pieces: number; waits: readonly boolean[] },
): { value: string; end: 'whole' | 'failed' } | undefined => {
  const split = (bytes: Buffer): Buffer[] => {
    const all: Buffer[] = []
    for (let from = 0; from < bytes.length; from += pieces) all.push(bytes.subarray(from, from + pieces))
    return all
  }
  let given = ''
  let end: 'whole' | 'failed' | undefined
  let held = false
  let turn = 0
  const flow = { pause: () => {}, resume: () => {}, abort: () => {} }
  const opened = openResponseStream(wireId, { head: split(body.subarray(0, head)), flow, idleMs: 10_000 })
  if (opened === undefined) return undefined
  const { stream, taker } = opened
  stream.start({
    write: (piece) => {
      expect(held).toBe(false)
      given += piece.toString('latin1')
      turn += 1
      held = waits[turn % waits.length] === true
      return !held
    },
    end: () => (end = 'whole'),
    fail: () => (end = 'failed'),
  })
  const goOn = (): void => {
    while (held && end === undefined) {
      held = false
      stream.resume()
    }
  }
  for (const piece of split(body.subarray(head))) {
    taker.data(piece)
    if (waits[0] === true) goOn()
  }
  taker.end()
  goOn()
  return { value: given, end: end ?? 'failed' }
}

const value = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.string({ minLength: 10, maxLength: 60 }).map((text) => JSON.stringify(text)),
)
const member = fc.oneof(
  { weight: 6, arbitrary: value.map((text) => `"result":${text}`) },
  { weight: 4, arbitrary: fc.constant(`"id":${wireId}`) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('"jsonrpc":"2.0"', '"error":null', '"error":{}', '"id":78', '"\\u0069d":1', '"x":[]'),
  },
)
/** An answer as it should be, and anything near it. */
const answer = fc.oneof(
  {
    weight: 4,
    arbitrary: value.map((text) => `{"jsonrpc":"2.0","id":${wireId},"result":${text}}`),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.array(member, { minLength: 1, maxLength: 5 }), fc.constantFrom('}', '', '}}', '} ', ',}'))
      .map(([members, end]) => `{${members.join(',')}${end}`),
  },
)

test(
  'what is streamed is what would have been read, and fails where that would have failed',
  { timeout: fuzzTimeoutMs },
  () => {
    let whole = 0
    fc.assert(
      fc.property(
        answer,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
        (text, part, pieces, waits) => {
          const body = Buffer.from(text)
          // Mostly somewhere in the result, as it is when an answer has grown large.
          const from = body.indexOf('"result":') + 10
          const seen = streamed(body, { head: from + Math.floor(part * (body.length - from) * 0.8), pieces, waits })
          if (seen === undefined) return
          const read = readResponse(body, wireId)
          const expected = read?.member === 'result' ? read.value.toString('latin1') : undefined
          expect(seen.end).toBe(expected === undefined ? 'failed' : 'whole')
          if (expected === undefined) return
          whole += 1
          expect(seen.value).toBe(expected)
        },
      ),
      { numRuns: fuzzCases(2_000) },
    )
    // A corpus that never streams would hold of anything.
    expect(whole).toBeGreaterThan(fuzzCases(2_000) / 10)
  },
)
