import { expect, test } from 'vitest'
import { createInFlightReads } from './createInFlightReads.ts'
import type { InFlightReads } from './createInFlightReads.ts'

const optionsFor = (keyId: string) => ({ keyId, budget: { left: 100 }, maxResponseBytes: 100, timeoutMs: 10_000 })

/** Runs a read that never ends. @returns Whether it leads: whether it was started rather than joined. */
const runRead = (inFlightReads: InFlightReads, keyId: string, key = 'read'): boolean => {
  let leads = false
  inFlightReads.run(key, optionsFor(keyId), {
    start: () => {
      leads = true
      return () => {}
    },
    done: () => {},
  })
  return leads
}

test('a read can be joined for `joinableMs`, and is then started again', () => {
  let time = 0
  const inFlightReads = createInFlightReads({ joinableMs: 1_000, now: () => time })
  expect(runRead(inFlightReads, 'a')).toBe(true)
  time = 999
  expect(runRead(inFlightReads, 'b')).toBe(false)
  time = 1_000
  expect(runRead(inFlightReads, 'b')).toBe(true)
  expect(runRead(inFlightReads, 'a')).toBe(false)
})

test('a caller with more time does not join a read that will time out soon', () => {
  let time = 0
  const inFlightReads = createInFlightReads({ joinableMs: 2_000, now: () => time })
  const isJoined = (deadlineMs?: number): boolean =>
    inFlightReads.join('read', optionsFor('b'), () => {}, { deadlineMs }) !== undefined
  // It waited nine of its ten seconds before it started.
  inFlightReads.run('read', optionsFor('a'), { start: () => () => {}, done: () => {} }, { deadlineMs: 1_000 })
  expect([isJoined(), isJoined(2_001), isJoined(2_000)]).toEqual([false, false, true])
  time = 600
  expect([isJoined(2_000), isJoined(800)]).toEqual([false, true])
})

test('of any number of keys that write, none joins an earlier read', () => {
  const inFlightReads = createInFlightReads({ joinableMs: 1_000, now: () => 0 })
  runRead(inFlightReads, 'reader')
  for (let key = 0; key < 25_000; key += 1) inFlightReads.markChanged(`key ${key}`)
  expect(inFlightReads.join('read', optionsFor('key 0'), () => {})).toBeUndefined()
  expect(inFlightReads.join('read', optionsFor('key 9999'), () => {})).toBeUndefined()
  expect(inFlightReads.join('read', optionsFor('key 24999'), () => {})).toBeUndefined()
})

test("each follower's own budget pays for the response", () => {
  const inFlightReads = createInFlightReads({ joinableMs: 1_000, now: () => 0 })
  const results: unknown[] = []
  let finish = (): void => {}
  const value = Buffer.from('12345')
  inFlightReads.run('read', optionsFor('a'), {
    start: ({ done }) => {
      finish = () => done({ member: 'result', value })
      return () => {}
    },
    done: (result) => results.push(result),
  })
  const small = { ...optionsFor('b'), budget: { left: 4 } }
  const large = { ...optionsFor('c'), budget: { left: 5 } }
  inFlightReads.join('read', small, (result) => results.push('reason' in result ? result.reason : result))
  inFlightReads.join('read', large, (result) => results.push(result))
  finish()
  expect(results).toEqual([{ member: 'result', value }, 'response_too_large', { member: 'result', value }])
  expect([small.budget.left, large.budget.left, inFlightReads.size()]).toEqual([4, 0, 0])
})

test('a read stops when its last waiter leaves, and leaving twice does nothing', () => {
  const inFlightReads = createInFlightReads({ joinableMs: 1_000, now: () => 0 })
  let stopped = 0
  const leaveFirst = inFlightReads.run('read', optionsFor('a'), {
    start: () => () => {
      stopped += 1
    },
    done: () => {},
  })
  const leaveSecond = inFlightReads.join('read', optionsFor('b'), () => {})
  leaveFirst()
  leaveFirst()
  expect([stopped, inFlightReads.size()]).toEqual([0, 1])
  leaveSecond?.()
  expect([stopped, inFlightReads.size()]).toEqual([1, 0])
  expect(runRead(inFlightReads, 'c')).toBe(true)
})

test.each([
  ['may', true],
  ['may not', false],
])('a result is a stream once its only caller left is a follower that %s have one', (_, streams) => {
  const inFlightReads = createInFlightReads({ joinableMs: 1_000, now: () => 0 })
  let isStream: (() => boolean) | undefined
  const leaveFirst = inFlightReads.run('read', optionsFor('a'), {
    start: (leader) => {
      isStream = leader.mayStream
      return () => {}
    },
    done: () => {},
  })
  inFlightReads.join('read', { ...optionsFor('b'), streams }, () => {})
  expect(isStream?.()).toBe(false)
  leaveFirst()
  expect(isStream?.()).toBe(streams)
})
