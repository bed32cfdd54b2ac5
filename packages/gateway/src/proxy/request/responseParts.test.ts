import { describe, expect, test } from 'vitest'
import { rejections } from '../../errors/rejections.ts'
import { toBatchParts } from './responseParts.ts'

const invalid = rejections.invalidRequest()
const busy = rejections.upstreamBusy()
const value = Buffer.from('"0x1"')
const join = (parts: readonly unknown[]): unknown => JSON.parse(parts.map(String).join(''))

describe('toBatchParts', () => {
  test('the rejections of a long batch are one part', () => {
    const parts = toBatchParts(Array<typeof invalid>(1_000).fill(invalid), Array<string>(1_000).fill('null'), 'req')
    expect(parts).toHaveLength(2)
    expect(join(parts)).toHaveLength(1_000)
  })

  test('results and rejections stay in order, and notifications get none', () => {
    const results = [busy, invalid, invalid, { member: 'result', value }, busy, { member: 'error', value }] as const
    const parts = toBatchParts(results, ['1', '"b"', undefined, '3', '4', '5'], 'req')
    expect(join(parts)).toMatchObject([
      { id: 1, error: { data: { reason: 'upstream_busy', requestId: 'req' } } },
      { id: 'b', error: { data: { reason: 'invalid_request' } } },
      { id: 3, result: '0x1' },
      { id: 4, error: { data: { reason: 'upstream_busy' } } },
      { id: 5, error: '0x1' },
    ])
  })

  test('a batch of notifications has no parts', () => {
    expect(toBatchParts([busy, { member: 'result', value }], [undefined, undefined], 'req')).toEqual([])
  })
})
