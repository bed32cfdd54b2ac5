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
    ['maxResp', 'maxResponseBytes'],
    ['ulr', 'url'],
  ])('of %s is %s', (name, nearest) => {
    expect(findNearestName(name, known)).toBe(nearest)
  })

  test.each(['', 'u', 'max', 'headers', 'maxRetries', 'origin', 'ttl', 'x'.repeat(1_000)])('of %s is none', (name) => {
    expect(findNearestName(name, known)).toBeUndefined()
  })

  test.each([
    ['--prot', '--port'],
    ['--pot', '--port'],
    ['--jsno', '--json'],
    ['--unsafe', '--unsafe-node-methods'],
    ['--unsafe-node-method', '--unsafe-node-methods'],
    ['--verbose', undefined],
  ])('of the option %s is %s', (given, nearest) => {
    expect(findNearestName(given, ['--port', '--data', '--once', '--json', '--unsafe-node-methods'])).toBe(nearest)
  })

  test('of a name that was cut short is its shortest whole form, and not another short name', () => {
    expect(findNearestName('eth_getBlock', ['eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getWork'])).toBe(
      'eth_getBlockByHash',
    )
  })

  test('is none beyond the given edit distance, although the start is the same', () => {
    expect(findNearestName('eth_callMany', ['eth_call'])).toBe('eth_call')
    expect(findNearestName('eth_callMany', ['eth_call'], 3)).toBeUndefined()
  })

  test('is none if there are no names', () => {
    expect(findNearestName('url', [])).toBeUndefined()
  })
})
