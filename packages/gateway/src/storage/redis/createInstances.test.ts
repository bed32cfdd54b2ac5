import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createInstances } from './createInstances.ts'
import type { Instances } from './createInstances.ts'
import type { RedisMessages } from './createRedisMessages.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Messages of instances that share one Redis, which the test can cut. */
const createBus = () => {
  const listeners: ((message: string) => void)[] = []
  const stateListeners: (() => void)[] = []
  let isCut = false
  const open = (): Instances => {
    const messages: RedisMessages = {
      publish: (_, message) => {
        if (!isCut) for (const listener of listeners) listener(message)
      },
      subscribe: (_, listener) => void listeners.push(listener),
      isListening: () => !isCut,
      onListening: (listener) => void stateListeners.push(listener),
      close: async () => {},
    }
    return createInstances({ messages, clock: () => Date.now() })
  }
  const setCut = (next: boolean): void => {
    isCut = next
    for (const listener of stateListeners) listener()
  }
  return { open, setCut, send: (message: string) => listeners.forEach((listener) => listener(message)) }
}

const listPlaces = (all: readonly Instances[]): number[] =>
  all.map((one) => one.share().place).toSorted((one, other) => one - other)
const listCounts = (all: readonly Instances[]): number[] => all.map((one) => one.share().instances)

test('count each other, and forget those that stop or are not heard', () => {
  const bus = createBus()
  const all = [bus.open(), bus.open(), bus.open()] as const
  const [first, second, third] = all
  expect(listCounts(all)).toEqual([1, 1, 1])
  bus.setCut(false)
  expect([listCounts(all), listPlaces(all)]).toEqual([
    [3, 3, 3],
    [0, 1, 2],
  ])
  third.leave()
  expect(listCounts([first, second])).toEqual([2, 2])
  // One that was killed.
  bus.send('00000000-0000-0000-0000-000000000000')
  bus.send('not an id')
  expect(listCounts([first, second])).toEqual([3, 3])
  vi.advanceTimersByTime(7_000)
  expect(listCounts([first, second])).toEqual([2, 2])
})

test('stay as they were while Redis is lost', () => {
  const bus = createBus()
  const all = [bus.open(), bus.open()]
  bus.setCut(false)
  bus.setCut(true)
  vi.advanceTimersByTime(60_000)
  expect(listCounts(all)).toEqual([2, 2])
  bus.setCut(false)
  vi.advanceTimersByTime(10_000)
  expect(listCounts(all)).toEqual([2, 2])
})
