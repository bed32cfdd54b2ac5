import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createFaultLog, describeFault, getFaultCode } from './faultLog.ts'
import { StorageError } from './storageError.ts'

interface Fault {
  readonly code: string
  readonly count: number
  readonly requestId?: string
}
const start = () => {
  const written: Fault[] = []
  const faults = createFaultLog<Fault>(
    (fault) => written.push(fault),
    ({ code }) => code,
  )
  return { ...faults, written }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

// 15.30
describe('createFaultLog', () => {
  test('writes the first fault immediately, and the others of that second as one with their number', () => {
    const { log, written } = start()
    for (let call = 0; call < 1_000; call += 1) log({ code: 'SQLite 13', count: 1, requestId: String(call) })
    expect(written).toEqual([{ code: 'SQLite 13', count: 1, requestId: '0' }])
    vi.advanceTimersByTime(999)
    expect(written).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(written.slice(1)).toEqual([{ code: 'SQLite 13', count: 999, requestId: '999' }])
  })

  test('writes a continuous fault once a second, with the right total', () => {
    const { log, written } = start()
    for (let at = 0; at < 10_000; at += 10) {
      log({ code: 'SQLite 13', count: 1 })
      vi.advanceTimersByTime(10)
    }
    vi.advanceTimersByTime(2_000)
    expect(written.length).toBeLessThanOrEqual(11)
    expect(written.reduce((sum, { count }) => sum + count, 0)).toBe(1_000)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('counts each kind separately', () => {
    const { log, written } = start()
    for (const code of ['SQLite 13', '25006', 'SQLite 13', '25006']) log({ code, count: 1 })
    expect(written.map(({ code }) => code)).toEqual(['SQLite 13', '25006'])
  })

  test('writes the pending faults when it is flushed', () => {
    const { log, flush, written } = start()
    for (let call = 0; call < 3; call += 1) log({ code: 'a', count: 1 })
    flush()
    expect(written.map(({ count }) => count)).toEqual([1, 2])
    expect(vi.getTimerCount()).toBe(0)
  })
})

test.each([
  [new StorageError('the database failed', { fault: 'failed', code: 'SQLite 13' }), 'SQLite 13'],
  [new StorageError('the database is closed', { fault: 'unavailable' }), 'unavailable'],
  [Object.assign(new Error('accept'), { code: 'EMFILE' }), 'EMFILE'],
  [Object.assign(new Error('x'), { code: 'postgres://user:password@host/db' }), 'other'],
  [Object.assign(new Error('x'), { code: 'toString' }), 'other'],
  ['a text', 'other'],
  [undefined, 'other'],
])('the code of %o is %s', (error, code) => {
  expect(getFaultCode(error)).toBe(code)
})

test('a fault has its cause in words and what to do, and never what an error says', () => {
  const full = new StorageError('the database failed', { fault: 'failed', code: 'SQLite 13' })
  expect(describeFault(full)).toEqual({ code: 'SQLite 13', cause: 'the disk is full: free some space' })
  const refused = new StorageError('the database cannot be reached', { fault: 'unavailable', code: 'ECONNREFUSED' })
  expect(describeFault(refused).cause).toMatch(/^nothing listens at its host and port/)
  expect(describeFault(new Error('WRONGPASS topsecret'))).toEqual({
    code: 'WRONGPASS',
    cause: 'its user or password is wrong: correct REDIS_URL',
  })
  expect(describeFault(Object.assign(new Error('accept'), { code: 'EMFILE' })).cause).toContain('ulimit -n')
  expect(describeFault(new Error('topsecret'))).toEqual({ code: 'other' })
})
