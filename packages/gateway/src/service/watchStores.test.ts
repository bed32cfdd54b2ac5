import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StorageError } from '../errors/storageError.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { watchStores } from './watchStores.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
})

/** How a ping ends; `hang` never does. */
type Outcome = 'ok' | 'hang' | Error

const start = (isFatal?: (error: unknown) => boolean) => {
  const state = { outcome: 'ok' as Outcome, pings: 0, pending: 0 }
  const logged: ServiceLogEntry[] = []
  const watch = watchStores(
    [
      {
        name: 'database',
        ping: async () => {
          state.pings += 1
          state.pending += 1
          if (state.outcome === 'hang') await new Promise(() => {})
          state.pending -= 1
          if (state.outcome instanceof Error) throw state.outcome
        },
        ...(isFatal === undefined ? {} : { isFatal }),
      },
      { name: 'redis', ping: async () => {} },
    ],
    (entry) => logged.push(entry),
  )
  const getState = () => ({ unavailable: watch.unavailable(), fatal: watch.fatal() })
  return { watch, state, logged, getState }
}
const full = new StorageError('the database failed', { fault: 'failed', code: 'SQLite 13' })

// 15.30
describe('watchStores', () => {
  test('pings at once and then about once a second, and logs changes with their code', async () => {
    const { watch, state, logged, getState } = start(() => true)
    await vi.advanceTimersByTimeAsync(0)
    expect([state.pings, getState()]).toEqual([1, { unavailable: [], fatal: undefined }])
    state.outcome = full
    await vi.advanceTimersByTimeAsync(999)
    expect(state.pings).toBe(1)
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
      { event: 'store', store: 'database', state: 'unavailable', code: 'SQLite 13' },
      { event: 'store', store: 'database', state: 'available' },
    ])
    watch.stop()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('tells by the error whether calls can be served without the store', async () => {
    const { watch, state, getState } = start((error) => error instanceof StorageError && error.fault === 'failed')
    state.outcome = new StorageError('the database cannot be reached', { fault: 'unavailable', code: 'ECONNREFUSED' })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(getState()).toEqual({ unavailable: ['database'], fatal: undefined })
    state.outcome = full
    await vi.advanceTimersByTimeAsync(1_000)
    expect(getState()).toEqual({ unavailable: ['database'], fatal: 'database' })
    watch.stop()
  })

  test('has at most one ping of a store in flight, and reports a store that hangs as unavailable', async () => {
    const { watch, state, logged, getState } = start()
    await vi.advanceTimersByTimeAsync(0)
    state.outcome = 'hang'
    await vi.advanceTimersByTimeAsync(60_000)
    expect([state.pings, state.pending]).toEqual([2, 1])
    expect(getState()).toEqual({ unavailable: ['database'], fatal: undefined })
    expect(logged).toEqual([{ event: 'store', store: 'database', state: 'unavailable', code: 'timeout' }])
    watch.stop()
  })
})
