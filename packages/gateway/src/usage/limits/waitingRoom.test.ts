import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addWaiter,
  createWaitingRoom,
  getWaiting,
  hasRoom,
  isAnyWaiting,
  listImpatient,
  removeAllWaiters,
  removeWaiter,
} from './waitingRoom.ts'

interface Each {
  readonly name: string
  readonly since: number
}
const create = () => createWaitingRoom<string, Each>({ maxWaiting: 3, patienceMs: 2_000 })
const [first, second, other]: [Each, Each, Each] = [
  { name: 'first', since: 1_000 },
  { name: 'second', since: 1_500 },
  { name: 'other', since: 1_200 },
]
const fill = () => {
  const room = create()
  addWaiter(room, 'a', first)
  addWaiter(room, 'a', second)
  addWaiter(room, 'b', other)
  return room
}

test('the requests of a group wait in order of arrival, apart from those of other groups', () => {
  const room = fill()
  expect([...getWaiting(room, 'a')]).toEqual([first, second])
  expect([...getWaiting(room, 'b')]).toEqual([other])
  expect([...getWaiting(room, 'c')]).toEqual([])
  expect(['a', 'b', 'c'].map((group) => isAnyWaiting(room, group))).toEqual([true, true, false])
})

test('has room for a number of requests, in all groups together', () => {
  const room = fill()
  expect(hasRoom(room)).toBe(false)
  removeWaiter(room, 'b', other)
  expect(hasRoom(room)).toBe(true)
})

test('a request is removed once', () => {
  const room = fill()
  expect([removeWaiter(room, 'a', first), removeWaiter(room, 'a', first), removeWaiter(room, 'b', first)]).toEqual([
    true,
    false,
    false,
  ])
  expect(room.count).toBe(2)
  removeWaiter(room, 'a', second)
  expect(isAnyWaiting(room, 'a')).toBe(false)
  expect([...room.groups.keys()]).toEqual(['b'])
})

test('a request has waited too long after patienceMs', () => {
  const room = fill()
  expect(listImpatient(room, 2_999)).toEqual([])
  expect(listImpatient(room, 3_000)).toEqual([first])
  expect(listImpatient(room, 3_200)).toEqual([first, other])
  expect(listImpatient(room, 3_500)).toEqual([first, second, other])
  expect(room.count).toBe(3)
})

test('all requests of a group are removed, or all', () => {
  const room = fill()
  expect(removeAllWaiters(room, 'c')).toEqual([])
  expect(removeAllWaiters(room, 'a')).toEqual([first, second])
  expect([room.count, isAnyWaiting(room, 'a'), isAnyWaiting(room, 'b')]).toEqual([1, false, true])
  expect(removeAllWaiters(room)).toEqual([other])
  expect([room.count, room.groups.size]).toEqual([0, 0])
})

test('counts the requests that wait, and lists each that has waited too long, after any sequence of steps', () => {
  const group = fc.constantFrom('a', 'b', 'c')
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ op: fc.constant('add' as const), group, ms: fc.nat(900) }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('remove' as const), group, at: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('removeAll' as const), group: fc.option(group) }) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const room = create()
      let model: { readonly group: string; readonly waiter: Each }[] = []
      let now = 0
      for (const one of steps) {
        if (one.op === 'add') {
          now += one.ms
          expect(hasRoom(room)).toBe(model.length < 3)
          if (!hasRoom(room)) continue
          const waiter = { name: `${model.length}`, since: now }
          addWaiter(room, one.group, waiter)
          model.push({ group: one.group, waiter })
        } else if (one.op === 'remove') {
          const found = model[one.at]
          if (found === undefined) continue
          expect(removeWaiter(room, one.group, found.waiter)).toBe(found.group === one.group)
          if (found.group === one.group) model = model.filter((each) => each !== found)
        } else {
          const isRemoved = (each: { readonly group: string }): boolean =>
            one.group === null || each.group === one.group
          expect(new Set(removeAllWaiters(room, one.group ?? undefined))).toEqual(
            new Set(model.filter(isRemoved).map(({ waiter }) => waiter)),
          )
          model = model.filter((each) => !isRemoved(each))
        }
        expect(room.count).toBe(model.length)
        for (const name of ['a', 'b', 'c'])
          expect([...getWaiting(room, name)]).toEqual(
            model.filter((each) => each.group === name).map(({ waiter }) => waiter),
          )
        const impatient = model.filter(({ waiter }) => now - waiter.since >= 2_000).map(({ waiter }) => waiter)
        expect(new Set(listImpatient(room, now))).toEqual(new Set(impatient))
      }
    }),
    { numRuns: 300 },
  )
})
