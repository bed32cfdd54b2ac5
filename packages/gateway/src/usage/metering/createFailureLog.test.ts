import { expect, test } from 'vitest'
import { StorageError } from '../../errors/storageError.ts'
import { createFailureLog } from './createFailureLog.ts'
import type { MeterEvent } from './meter.ts'

test('reports the first failure of a series and its end, and counts all failures', () => {
  const events: MeterEvent[] = []
  const log = createFailureLog('write', (event) => events.push(event))
  log.succeeded()
  log.failed(new StorageError('the database cannot be reached', { fault: 'unavailable', code: 'ECONNRESET' }))
  log.failed(new Error('another'))
  log.succeeded()
  log.succeeded()
  log.failed(new StorageError('the database is closed', { fault: 'unavailable' }))
  log.succeeded()
  log.failed(new TypeError('has a secret'))
  log.succeeded()
  log.failed('a secret')
  expect(events).toStrictEqual([
    { event: 'meterFailed', work: 'write', state: 'started', code: 'ECONNRESET' },
    { event: 'meterFailed', work: 'write', state: 'ended', failures: 2 },
    { event: 'meterFailed', work: 'write', state: 'started', code: 'unavailable' },
    { event: 'meterFailed', work: 'write', state: 'ended', failures: 1 },
    { event: 'meterFailed', work: 'write', state: 'started', code: 'TypeError' },
    { event: 'meterFailed', work: 'write', state: 'ended', failures: 1 },
    { event: 'meterFailed', work: 'write', state: 'started' },
  ])
  expect(log.failures).toBe(5)
})
