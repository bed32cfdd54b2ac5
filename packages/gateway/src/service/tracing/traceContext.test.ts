import { describe, expect, test } from 'vitest'
import { formatTraceContext, parseTraceContext } from './traceContext.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'
const sampled = { traceId, parentId, isSampled: true, state: undefined }

describe('parseTraceContext', () => {
  test.each([
    [`00-${traceId}-${parentId}-01`, sampled],
    [`00-${traceId}-${parentId}-00`, { ...sampled, isSampled: false }],
    [`00-${traceId}-${parentId}-03`, sampled],
    [`01-${traceId}-${parentId}-01-more`, sampled],
  ])('parses %s', (traceparent, expected) => {
    expect(parseTraceContext({ traceparent })).toEqual(expected)
  })

  test.each([
    undefined,
    '',
    `ff-${traceId}-${parentId}-01`,
    `00-${traceId}-${parentId}-01-more`,
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`,
  ])('ignores %s', (traceparent) => {
    expect(parseTraceContext(traceparent === undefined ? {} : { traceparent })).toBeUndefined()
  })

  test('keeps tracestate as it was sent, unless it is too long', () => {
    const traceparent = `00-${traceId}-${parentId}-01`
    const parsed = parseTraceContext({ traceparent, tracestate: 'congo=t61rcWkgMzE' })
    expect(parsed && formatTraceContext(parsed)).toEqual({ traceparent, tracestate: 'congo=t61rcWkgMzE' })
    expect(parseTraceContext({ traceparent, tracestate: 'x'.repeat(513) })?.state).toBeUndefined()
  })
})
