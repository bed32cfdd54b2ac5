import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { openResponseStream } from './openResponseStream.ts'
import { readResponse } from './readResponse.ts'

/** Enough for 100,000 cases on a busy machine. */
const fuzzTimeoutMs = 300_000

const wireId = '77'

/** Streams a response in chunks, the first of which are its head, to a sink that pauses now and then. */
const streamResponse = (
  body: Buffer,
  { headBytes, chunkBytes, pauses }: { headBytes: number; chunkBytes: number; pauses: readonly boolean[] },
): { value: string; end: 'complete' | 'failed' } | undefined => {
  const split = (bytes: Buffer): Buffer[] => {
    const all: Buffer[] = []
    for (let from = 0; from < bytes.length; from += chunkBytes) all.push(bytes.subarray(from, from + chunkBytes))
    return all
  }
  let written = ''
  let end: 'complete' | 'failed' | undefined
  let paused = false
  let writes = 0
  const flow = { pause: () => {}, resume: () => {}, abort: () => {} }
  const opened = openResponseStream(wireId, { head: split(body.subarray(0, headBytes)), flow, idleMs: 10_000 })
  if (opened === undefined) return undefined
  const { stream, consumer } = opened
  stream.start({
    write: (chunk) => {
      expect(paused).toBe(false)
      written += chunk.toString('latin1')
      writes += 1
      paused = pauses[writes % pauses.length] === true
      return !paused
    },
    end: () => (end = 'complete'),
    fail: () => (end = 'failed'),
  })
  const resume = (): void => {
    while (paused && end === undefined) {
      paused = false
      stream.resume()
    }
  }
  for (const chunk of split(body.subarray(headBytes))) {
    consumer.data(chunk)
    if (pauses[0] === true) resume()
  }
  consumer.end()
  resume()
  return { value: written, end: end ?? 'failed' }
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
/** Valid responses, and some that are nearly valid. */
const response = fc.oneof(
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

test('a stream writes what `readResponse` reads, and fails if that fails', { timeout: fuzzTimeoutMs }, () => {
  let completed = 0
  fc.assert(
    fc.property(
      response,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
      (text, part, chunkBytes, pauses) => {
        const body = Buffer.from(text)
        // Mostly somewhere in the result, as in a response that has grown large.
        const from = body.indexOf('"result":') + 10
        const headBytes = from + Math.floor(part * (body.length - from) * 0.8)
        const streamed = streamResponse(body, { headBytes, chunkBytes, pauses })
        if (streamed === undefined) return
        const read = readResponse(body, wireId)
        const expected = read?.member === 'result' ? read.value.toString('latin1') : undefined
        expect(streamed.end).toBe(expected === undefined ? 'failed' : 'complete')
        if (expected === undefined) return
        completed += 1
        expect(streamed.value).toBe(expected)
      },
    ),
    { numRuns: fuzzCases(2_000) },
  )
  // A corpus that never streams would prove nothing.
  expect(completed).toBeGreaterThan(fuzzCases(2_000) / 10)
})
