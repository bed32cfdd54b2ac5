import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StorageError } from '../errors/storageError.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { watchStores } from './watchStores.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
})

/** How a check ends; `hang` never does. */
type Outcome = 'ok' | 'hang' | Error

const start = (isFatal?: (error: unknown) => boolean, getIntervalMs?: () => number) => {
  const state = { outcome: 'ok' as Outcome, checks: 0, pending: 0 }
  const logged: ServiceLogEntry[] = []
  const watch = watchStores(
    [
      {
        name: 'database',
        check: async () => {
          state.checks += 1
          state.pending += 1
          if (state.outcome === 'hang') await new Promise(() => {})
          state.pending -= 1
          if (state.outcome instanceof Error) throw state.outcome
        },
        ...(isFatal === undefined ? {} : { isFatal }),
        ...(getIntervalMs === undefined ? {} : { getIntervalMs }),
      },
      { name: 'redis', check: async () => {} },
    ],
    (entry) => logged.push(entry),
  )
  const getState = () => ({ unavailable: watch.unavailable(), fatal: watch.fatal() })
  return { watch, state, logged, getState }
}
const full = new StorageError('the database failed', { fault: 'failed', code: 'SQLite 13' })

// 15.30
describe('watchStores', () => {
  test('checks at once and then about once a second, and logs changes with their code', async () => {
    const { watch, state, logged, getState } = start(() => true)
    await vi.advanceTimersByTimeAsync(0)
    expect([state.checks, getState()]).toEqual([1, { unavailable: [], fatal: undefined }])
    state.outcome = full
    await vi.advanceTimersByTimeAsync(999)
    expect(state.checks).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(getState()).toEqual({ unavailable: ['database'], fatal: 'database' })
    expect(watch.states()).toEqual([
      { name: 'database', isAvailable: false, checkMs: 0 },
      { name: 'redis', isAvailable: true, checkMs: 0 },
    ])
    await vi.advanceTimersByTimeAsync(10_000)
    state.outcome = 'ok'
    await vi.advanceTimersByTimeAsync(1_000)
    expect(getState()).toEqual({ unavailable: [], fatal: undefined })
    expect(logged).toEqual([
      {
        event: 'store',
        store: 'database',
        state: 'unavailable',
        code: 'SQLite 13',
        cause: 'the disk is full: free some space',
      },
      { event: 'store', store: 'database', state: 'available' },
    ])
    watch.stop()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('the error says whether calls can be served without the store', async () => {
    const { watch, state, getState } = start((error) => error instanceof StorageError && error.fault === 'failed')
    state.outcome = new StorageError('the database cannot be reached', { fault: 'unavailable', code: 'ECONNREFUSED' })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(getState()).toEqual({ unavailable: ['database'], fatal: undefined })
    state.outcome = full
    await vi.advanceTimersByTimeAsync(1_000)
    expect(getState()).toEqual({ unavailable: ['database'], fatal: 'database' })
    watch.stop()
  })

  test('has at most one check of a store in flight, and reports a store that hangs as unavailable', async () => {
    const { watch, state, logged, getState } = start()
    await vi.advanceTimersByTimeAsync(0)
    state.outcome = 'hang'
    await vi.advanceTimersByTimeAsync(60_000)
    expect([state.checks, state.pending]).toEqual([2, 1])
    expect(getState()).toEqual({ unavailable: ['database'], fatal: undefined })
    expect(logged).toEqual([
      {
        event: 'store',
        store: 'database',
        state: 'unavailable',
        code: 'timeout',
        cause: expect.stringMatching(/^it does not respond in time/),
      },
    ])
    watch.stop()
  })

  test('checks a store at its own interval, and every second while it is unavailable', async () => {
    const { watch, state, getState } = start(undefined, () => 5_000)
    await vi.advanceTimersByTimeAsync(4_999)
    expect(state.checks).toBe(1)
    state.outcome = full
    await vi.advanceTimersByTimeAsync(1)
    expect([state.checks, getState().unavailable]).toEqual([2, ['database']])
    await vi.advanceTimersByTimeAsync(3_000)
    expect(state.checks).toBe(5)
    state.outcome = 'ok'
    await vi.advanceTimersByTimeAsync(1_000)
    expect([state.checks, getState().unavailable]).toEqual([6, []])
    await vi.advanceTimersByTimeAsync(4_999)
    expect(state.checks).toBe(6)
    watch.stop()
  })

  test('checks a store within a second of a sign that it may have failed, however many there are', async () => {
    const { watch, state, getState } = start(undefined, () => 5_000)
    await vi.advanceTimersByTimeAsync(1_000)
    state.outcome = full
    for (let sign = 0; sign < 10; sign += 1) {
      watch.checkSoon('database')
      await vi.advanceTimersByTimeAsync(90)
    }
    await vi.advanceTimersByTimeAsync(99)
    expect(state.checks).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect([state.checks, getState().unavailable]).toEqual([2, ['database']])
    // Signs do not delay the check that is due.
    state.outcome = 'ok'
    await vi.advanceTimersByTimeAsync(900)
    watch.checkSoon('database')
    await vi.advanceTimersByTimeAsync(100)
    expect([state.checks, getState().unavailable]).toEqual([3, []])
    watch.stop()
    watch.checkSoon('database')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('checks again after a check that may have started before the sign', async () => {
    let complete = (): void => {}
    let checks = 0
    const check = () => {
      checks += 1
      return new Promise<void>((resolve) => (complete = resolve))
    }
    const watch = watchStores([{ name: 'database', check, getIntervalMs: () => 5_000 }], () => {})
    watch.checkSoon('database')
    complete()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(checks).toBe(2)
    complete()
    await vi.advanceTimersByTimeAsync(4_999)
    expect(checks).toBe(2)
    watch.stop()
  })
})
