import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ServiceLogEntry } from './serviceLog.ts'
import { watchServiceStores } from './watchServiceStores.ts'

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** @param isListening - Whether messages of Redis arrive; `undefined`: there is no Redis. */
const start = (isListening: boolean | undefined) => {
  const entries: ServiceLogEntry[] = []
  const state = {
    reads: 0,
    isListening: isListening ?? false,
    changed: () => {},
    problem: () => {},
    isChainStoreLost: false,
  }
  const watch = watchServiceStores({
    storage: { db: { kind: 'postgres' }, onProblem: (listener) => void (state.problem = listener) },
    redis:
      isListening === undefined
        ? undefined
        : {
            link: { ping: async () => {} },
            messages: {
              isListening: () => state.isListening,
              onListening: (listener) => void (state.changed = listener),
            },
          },
    chainStore: { call: async () => (state.isChainStoreLost ? Promise.reject(new Error('secret')) : undefined) },
    keys: { refresh: async () => void (state.reads += 1) },
    log: (entry) => void entries.push(entry),
  })
  return { watch, state, entries }
}

test.each([
  ['without Redis', undefined, 10],
  ['while Redis is lost', false, 10],
  ['while Redis delivers changes', true, 2],
])('%s, the change feed is read as often as documented', async (_, isListening, reads) => {
  const { watch, state } = start(isListening)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(state.reads).toBe(1 + reads)
  watch.stop()
})

test('the change feed is read within a second when messages stop or start to arrive, or the database may have failed', async () => {
  const { watch, state } = start(true)
  await vi.advanceTimersByTimeAsync(100)
  state.isListening = false
  state.changed()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(state.reads).toBe(2)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(state.reads).toBe(3)
  state.isListening = true
  state.changed()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(state.reads).toBe(4)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(state.reads).toBe(4)
  state.problem()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(state.reads).toBe(5)
  watch.stop()
})

test('a Redis of the chain store that is lost is unavailable, and logged once, until it responds again', async () => {
  const { watch, state, entries } = start(undefined)
  await vi.advanceTimersByTimeAsync(100)
  expect(watch.unavailable()).toEqual([])
  state.isChainStoreLost = true
  await vi.advanceTimersByTimeAsync(5_000)
  expect(watch.unavailable()).toEqual(['chainStore'])
  expect(watch.fatal()).toBeUndefined()
  state.isChainStoreLost = false
  await vi.advanceTimersByTimeAsync(5_000)
  expect(watch.unavailable()).toEqual([])
  expect(entries).toEqual([
    expect.objectContaining({ store: 'chainStore', state: 'unavailable', code: 'timeout' }),
    { event: 'store', store: 'chainStore', state: 'available' },
  ])
  watch.stop()
})
