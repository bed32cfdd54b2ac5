import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StorageError } from '../errors/storageError.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { watchStores } from './watchStores.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
})

/** What a ping comes to: nothing is a success, `hang` never ends. */
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
  const seen = () => ({ gone: watch.gone(), fatal: watch.fatal() })
  return { watch, state, logged, seen }
}
const full = new StorageError('the database failed', { fault: 'failed', code: 'SQLite 13' })

// 15.30
describe('the watch of the stores', () => {
  test('pings at once and then about once a second, and logs changes with their code', async () => {
    const { watch, state, logged, seen } = start(() => true)
    await vi.advanceTimersByTimeAsync(0)
    expect([state.pings, seen()]).toEqual([1, { gone: [], fatal: undefined }])
    state.outcome = full
    await vi.advanceTimersByTimeAsync(999)
    expect(state.pings).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(seen()).toEqual({ gone: ['database'], fatal: 'database' })
    expect(watch.states()).toEqual([
      { name: 'database', works: false },
      { name: 'redis', works: true },
    ])
    await vi.advanceTimersByTimeAsync(10_000)
    state.outcome = 'ok'
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen()).toEqual({ gone: [], fatal: undefined })
    expect(logged).toEqual([
      { event: 'store', store: 'database', state: 'gone', code: 'SQLite 13' },
      { event: 'store', store: 'database', state: 'back' },
    ])
    watch.stop()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('says whether calls can be served without the store by its error', async () => {
    const { watch, state, seen } = start((error) => error instanceof StorageError && error.fault === 'failed')
    state.outcome = new StorageError('the database cannot be reached', { fault: 'unavailable', code: 'ECONNREFUSED' })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen()).toEqual({ gone: ['database'], fatal: undefined })
    state.outcome = full
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen()).toEqual({ gone: ['database'], fatal: 'database' })
    watch.stop()
  })

  test('has one ping of a store in flight at most, and takes a store that hangs for gone', async () => {
    const { watch, state, logged, seen } = start()
    await vi.advanceTimersByTimeAsync(0)
    state.outcome = 'hang'
    await vi.advanceTimersByTimeAsync(60_000)
    expect([state.pings, state.pending]).toEqual([2, 1])
    expect(seen()).toEqual({ gone: ['database'], fatal: undefined })
    expect(logged).toEqual([{ event: 'store', store: 'database', state: 'gone', code: 'late' }])
    watch.stop()
  })
})
