import { describe, expect, test } from 'vitest'
import { batchLimit, mentionsBatch } from './batchLimit.ts'

describe('batchLimit', () => {
  test.each([
    ['Batch of more than 3 requests are not allowed on free tier, to use this feature register at drpc.org', 100, 3],
    ['Batch size too large: at most 1000 requests are allowed', 5_000, 1_000],
    ['Batch too large: 1001 > 1000', 1_001, 1_000],
    ['batch limit 100 exceeded. Requested batch of size: 200', 200, 100],
    ['maximum batch size is 1,000', 4_000, 1_000],
    ['batch size 150 exceeds the limit (50)', 150, 50],
    ['batch too large, at most 20.', 100, 20],
    ['20 calls in a batch are the most', 100, 20],
    ['at most 20 separate calls in a batch, of 30 megabytes', 100, 20],
    ['batch rejected (policy 7): 40 calls at most', 100, 40],
  ])('parses the number: %s', (text, size, limit) => {
    expect(batchLimit(text, size)).toBe(limit)
  })

  test.each([
    ['batch too large', 100],
    ['batch too large', 3],
    ['Too many [eth_getLogs] methods in the batch', 9],
    ['batch too large: 2000', 100],
    ['batch body over 10 MB, or 64kb, or 5 bytes', 100],
    ['batch rejected, try again in 5 s, or 20ms, or 3 seconds, or 4 sec, or 2 minutes, or 6 min; 7% used', 100],
    ['batch body over 1 byte', 100],
    ['batch rejected by node-7 (req-0042) at 10.0.0.1, error -32, v1.5', 100],
    ['a batch of 0 is allowed', 100],
  ])('is undefined if no number can be the limit: %s', (text, size) => {
    expect(batchLimit(text, size)).toBeUndefined()
  })

  test.each([
    'Batch requests are not supported by this server',
    'batch requests are disabled',
    'unsupported: batch',
    'batches are not allowed',
    'batching not enabled',
    "this server doesn't support batches",
    'JSON-RPC batches are not available',
  ])('is 1 if the server accepts no batches: %s', (text) => {
    expect(batchLimit(text, 100)).toBe(1)
  })

  test('is always at least 1 and smaller than the rejected batch', () => {
    for (let size = 2; size < 300; size++)
      for (const text of ['batch', 'at most 300', `at most ${size}`, `at most ${size - 1}`, 'not supported']) {
        const limit = batchLimit(text, size) ?? 1
        expect(limit).toBeLessThan(size)
        expect(limit).toBeGreaterThanOrEqual(1)
      }
  })
})

describe('mentionsBatch', () => {
  test.each([
    ['batch too large', true],
    ['Batches are limited to 10 calls', true],
    ['BATCH_LIMIT exceeded', true],
    ['maxBatchSize: 10', true],
    ['request entity too large', false],
    ['body is over 1 MB', false],
    ['', false],
  ])('%j is about the number of calls: %s', (text, expected) => {
    expect(mentionsBatch(text)).toBe(expected)
  })
})
