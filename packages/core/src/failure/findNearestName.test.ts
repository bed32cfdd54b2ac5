import { describe, expect, test } from 'vitest'
import { findNearestName } from './findNearestName.ts'

const known = ['url', 'timeoutMs', 'retry', 'maxResponseBytes', 'maxWaitMs', 'layers', 'hedge', 'tracing']

describe('findNearestName', () => {
  test.each([
    ['timeoutms', 'timeoutMs'],
    ['timeout_ms', 'timeoutMs'],
    ['imeoutMs', 'timeoutMs'],
    ['tmieoutMs', 'timeoutMs'],
    ['maxWait', 'maxWaitMs'],
    ['maxResponseSize', 'maxResponseBytes'],
    ['trace', 'tracing'],
    ['rul', 'url'],
    ['ulr', 'url'],
  ])('of %s is %s', (name, nearest) => {
    expect(findNearestName(name, known)).toBe(nearest)
  })

  test.each(['', 'u', 'max', 'headers', 'maxRetries', 'origin', 'ttl', 'x'.repeat(1_000)])('of %s is none', (name) => {
    expect(findNearestName(name, known)).toBeUndefined()
  })

  test('is none if there are no names', () => {
    expect(findNearestName('url', [])).toBeUndefined()
  })
})
