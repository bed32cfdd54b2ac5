import { expect, test } from 'vitest'
import { forgetHeadMs } from '../../usage/limits/usageLimits.ts'
import { createCallerViews, readOwnWritesMs } from './createCallerViews.ts'

const members = [{ name: 'a' }, { name: 'b' }] as const
const [a, b] = members
const create = (heads: 'monotonic' | 'latest' | 'none' = 'monotonic') => {
  const clock = { now: 0 }
  return { clock, ...createCallerViews({ members, heads, now: () => clock.now }) }
}

test('a key has its last writer for fifteen seconds', () => {
  const { clock, recordWrite, getWriter } = create()
  recordWrite('key', a)
  recordWrite('key', b)
  expect([getWriter('key'), getWriter('other')]).toEqual([b, undefined])
  clock.now = readOwnWritesMs - 1
  expect(getWriter('key')).toBe(b)
  clock.now += 1
  expect(getWriter('key')).toBeUndefined()
})

test('the head of a key does not go back, and that of another key is its own', () => {
  const { recordHead, getHead } = create()
  expect(getHead('a')).toBeUndefined()
  expect([100, 99, 101, 100].map((head) => recordHead('a', head))).toEqual([100, 100, 101, 101])
  expect(recordHead('b', 90)).toBe(90)
  expect([getHead('a'), getHead('b')]).toEqual([101, 90])
})

test('a head that no node has had for ten seconds is forgotten', () => {
  const { clock, recordHead } = create()
  const record = (at: number, head: number): number | undefined => {
    clock.now = at
    return recordHead('a', head)
  }
  expect([record(0, 100), record(5_000, 100), record(14_999, 20), record(15_000, 20), record(15_001, 19)]).toEqual([
    100, 100, 100, 20, 20,
  ])
})

test('the head of a single node may go back, and the heads of a chain that callers rewrite are not tracked', () => {
  const latest = create('latest')
  expect([latest.recordHead('a', 100), latest.recordHead('a', 7), latest.getHead('a')]).toEqual([100, 7, 7])
  const none = create('none')
  expect([none.recordHead('a', 100), none.getHead('a')]).toEqual([undefined, undefined])
})

test('remembers the 10,000 most recently used keys', () => {
  const { recordWrite, getWriter } = create()
  for (let key = 0; key < 30_000; key += 1) recordWrite(`key-${key}`, a)
  expect([getWriter('key-19999'), getWriter('key-20000'), getWriter('key-29999')]).toEqual([undefined, a, a])
})

/** Two instances that share the views of a key. The transport is what Redis does: it stores the last news with their time. */
const createPair = () => {
  const clock = { now: 0 }
  const open = () => createCallerViews({ members, heads: 'monotonic', now: () => clock.now })
  return { clock, one: open(), other: open() }
}

test('what one instance recorded is news until it is shared, and the other one applies it at its time', () => {
  const { clock, one, other } = createPair()
  one.recordHead('key', 100)
  one.recordWrite('key', b)
  clock.now = 3_000
  const news = one.getNews('key')
  expect(news).toEqual({
    head: { block: 100, agoMs: 3_000 },
    write: { id: expect.any(Number), node: 'b', agoMs: 3_000 },
  })
  expect(one.learn('key', news ?? {})).toBe(false)
  expect([one.getNews('key'), one.getNews('other')]).toEqual([undefined, undefined])
  expect(other.learn('key', news ?? {})).toBe(true)
  // The same write is not one that it did not know.
  expect(other.learn('key', news ?? {})).toBe(false)
  expect([other.getHead('key'), other.getWriter('key'), other.getNews('key')]).toEqual([100, b, undefined])
  expect(other.recordHead('key', 99)).toBe(100)
  clock.now = forgetHeadMs
  expect(other.recordHead('key', 99)).toBe(99)
  clock.now = readOwnWritesMs - 1
  expect(other.getWriter('key')).toBe(b)
  clock.now = readOwnWritesMs
  expect(other.getWriter('key')).toBeUndefined()
})

test('a head that a node still has is refreshed, so that no instance forgets it', () => {
  const { clock, one, other } = createPair()
  one.recordHead('key', 100)
  one.learn('key', one.getNews('key') ?? {})
  clock.now = 999
  one.recordHead('key', 100)
  expect(one.getNews('key', 1_000)).toBeUndefined()
  clock.now = 9_000
  one.recordHead('key', 100)
  expect(one.getNews('key')).toBeUndefined()
  other.learn('key', one.getNews('key', 1_000) ?? {})
  clock.now = 18_999
  expect(other.recordHead('key', 99)).toBe(100)
})

test('an older head or write of another instance changes nothing, and one that was lost is news again', () => {
  const { clock, one } = createPair()
  clock.now = 20_000
  one.recordHead('key', 20)
  one.recordWrite('key', a)
  expect(one.learn('key', { head: { block: 100, agoMs: 15_000 }, write: { id: 1, node: 'b', agoMs: 10 } })).toBe(false)
  expect([one.getHead('key'), one.getWriter('key')]).toEqual([20, a])
  one.learn('key', one.getNews('key') ?? {})
  expect(one.getNews('key')).toBeUndefined()
  one.learn('key', {})
  expect(one.getNews('key')).toMatchObject({ head: { block: 20 }, write: { node: 'a' } })
  // Too old to matter.
  clock.now += readOwnWritesMs
  expect(one.getNews('key')).toBeUndefined()
})

test('a write to a node that this instance does not have leads to no node', () => {
  const { one } = createPair()
  one.recordWrite('key', a)
  expect(one.learn('key', { write: { id: 1, node: 'c', agoMs: -1 } })).toBe(true)
  expect(one.getWriter('key')).toBeUndefined()
})
