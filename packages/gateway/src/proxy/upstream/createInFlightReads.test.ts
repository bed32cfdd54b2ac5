import { expect, test } from 'vitest'
import { createFlights } from './createInFlightReads.ts'
import type { Flights } from './createInFlightReads.ts'

const ofKey = (keyId: string) => ({ keyId, budget: { left: 100 }, maxAnswerBytes: 100, timeoutMs: 10_000 })

/** Asks for a read that never ends; says whether it had to be begun. */
const asks = (flights: Flights, keyId: string, key = 'read'): boolean => {
  let begun = false
  flights.carry(key, ofKey(keyId), {
    begin: () => {
      begun = true
      return () => {}
    },
    done: () => {},
  })
  return begun
}

test('a read is joined for as long as it may be, and then begun anew', () => {
  let at = 0
  const flights = createFlights({ joinableMs: 1_000, now: () => at })
  expect(asks(flights, 'a')).toBe(true)
  at = 999
  expect(asks(flights, 'b')).toBe(false)
  at = 1_000
  expect(asks(flights, 'b')).toBe(true)
  expect(asks(flights, 'a')).toBe(false)
})

test('a read that will be given up soon is joined by nobody who has more time', () => {
  let at = 0
  const flights = createFlights({ joinableMs: 2_000, now: () => at })
  const isJoined = (deadlineMs?: number): boolean =>
    flights.join('read', { ...ofKey('b'), ...(deadlineMs === undefined ? {} : { deadlineMs }) }, () => {}) !== undefined
  // It waited for nine of its ten seconds before it began.
  flights.carry('read', { ...ofKey('a'), deadlineMs: 1_000 }, { begin: () => () => {}, done: () => {} })
  expect([isJoined(), isJoined(2_001), isJoined(2_000)]).toEqual([false, false, true])
  at = 600
  expect([isJoined(2_000), isJoined(800)]).toEqual([false, true])
})

test('however many keys change something, none of them joins a read from before', () => {
  const flights = createFlights({ joinableMs: 1_000, now: () => 0 })
  asks(flights, 'reader')
  for (let key = 0; key < 25_000; key += 1) flights.changed(`key ${key}`)
  expect(flights.join('read', ofKey('key 0'), () => {})).toBeUndefined()
  expect(flights.join('read', ofKey('key 9999'), () => {})).toBeUndefined()
  expect(flights.join('read', ofKey('key 24999'), () => {})).toBeUndefined()
})

test('whoever waits pays for the answer out of its own bytes', () => {
  const flights = createFlights({ joinableMs: 1_000, now: () => 0 })
  const ends: unknown[] = []
  let finish = (): void => {}
  const value = Buffer.from('12345')
  flights.carry('read', ofKey('a'), {
    begin: ({ done }) => {
      finish = () => done({ member: 'result', value })
      return () => {}
    },
    done: (end) => ends.push(end),
  })
  const poor = { ...ofKey('b'), budget: { left: 4 } }
  const rich = { ...ofKey('c'), budget: { left: 5 } }
  flights.join('read', poor, (end) => ends.push('reason' in end ? end.reason : end))
  flights.join('read', rich, (end) => ends.push(end))
  finish()
  expect(ends).toEqual([{ member: 'result', value }, 'response_too_large', { member: 'result', value }])
  expect([poor.budget.left, rich.budget.left, flights.size()]).toEqual([4, 0, 0])
})

test('a read ends when the last of those who wait for it leaves, and leaving twice does nothing', () => {
  const flights = createFlights({ joinableMs: 1_000, now: () => 0 })
  let stopped = 0
  const leaveFirst = flights.carry('read', ofKey('a'), {
    begin: () => () => {
      stopped += 1
    },
    done: () => {},
  })
  const leaveSecond = flights.join('read', ofKey('b'), () => {})
  leaveFirst()
  leaveFirst()
  expect([stopped, flights.size()]).toEqual([0, 1])
  leaveSecond?.()
  expect([stopped, flights.size()]).toEqual([1, 0])
  expect(asks(flights, 'c')).toBe(true)
})
