import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFairQueue } from './createFairQueue.ts'
import type { FairQueue, SlotOf } from './createFairQueue.ts'

const minute = 60_000
const never = (): void => expect.unreachable('nobody is late')
const nothing = (): void => {}
/** A key that its owner has alone. */
const of = (keyId: string): SlotOf => ({ keyId, ownerId: `owner of ${keyId}` })
/** Keys of an owner as `ann-1`, `ann-2`. */
const ofOwner = (keyId: string): SlotOf => ({ keyId, ownerId: keyId.split('-')[0] ?? '' })

test('one beyond waits in the order it came, and goes when one before it has ended; other keys are not touched', () => {
  const turns = createFairQueue({ most: 2 })
  const gone: string[] = []
  turns.take(of('a'))
  turns.take(of('a'))
  expect([turns.free(of('a')), turns.free(of('b'))]).toEqual([false, true])
  for (const name of ['first', 'second'])
    turns.wait(of('a'), {
      waitMs: minute,
      go: (leftMs) => {
        expect(leftMs).toBeLessThanOrEqual(minute)
        turns.take(of('a'))
        gone.push(name)
        return nothing
      },
      late: never,
    })
  expect(gone).toEqual([])
  turns.give(of('a'))
  expect(gone).toEqual(['first'])
  turns.give(of('a'))
  expect(gone).toEqual(['first', 'second'])
  expect(turns.free(of('a'))).toBe(false)
})

test('one that is let go and takes nothing lets the next one go and can still be stopped; who left is not let go', () => {
  const turns = createFairQueue({ most: 1 })
  const gone: string[] = []
  turns.take(of('a'))
  const wait = (name: string): (() => void) =>
    turns.wait(of('a'), {
      waitMs: minute,
      go: () => {
        gone.push(name)
        return () => void gone.push(`${name} is stopped`)
      },
      late: never,
    })
  const stop = wait('joins another')
  const leave = wait('left')
  wait('last')
  leave()
  turns.give(of('a'))
  expect(gone).toEqual(['joins another', 'last'])
  stop()
  expect(gone).toEqual(['joins another', 'last', 'joins another is stopped'])
})

test('a thousand that end at once when let go use no stack for it', () => {
  const turns = createFairQueue({ most: 1, mostWaiting: 100_000 })
  let ended = 0
  turns.take(of('a'))
  for (let count = 0; count < 50_000; count += 1)
    turns.wait(of('a'), {
      waitMs: minute,
      go: () => {
        turns.take(of('a'))
        ended += 1
        turns.give(of('a'))
        return nothing
      },
      late: never,
    })
  turns.give(of('a'))
  expect([ended, turns.free(of('a'))]).toEqual([50_000, true])
})

test('a full line takes nobody, and a turn that does not come in time is told as late', async () => {
  const turns = createFairQueue({ most: 1, mostWaiting: 1 })
  turns.take(of('a'))
  const late = new Promise<void>((resolve) => {
    turns.wait(of('a'), { waitMs: 20, go: () => expect.unreachable('no turn is given back'), late: resolve })
  })
  let rejected = false
  turns.wait(of('a'), {
    waitMs: minute,
    go: () => expect.unreachable('it is not in the line'),
    late: () => (rejected = true),
  })
  expect(rejected).toBe(true)
  await late
  turns.give(of('a'))
  expect(turns.free(of('a'))).toBe(true)
})

test('what is in flight is not forgotten, however many keys come', () => {
  const turns = createFairQueue({ most: 1 })
  turns.take(of('busy'))
  for (let count = 0; count < 5_000; count += 1) {
    turns.take(of(`key-${count}`))
    turns.give(of(`key-${count}`))
  }
  expect([turns.free(of('busy')), turns.free(of('key-0'))]).toEqual([false, true])
})

/** Takes all that an owner may have, by key after key. @returns How many those are. */
const takeAll = (turns: FairQueue, owner: string): number => {
  let taken = 0
  for (let key = 0; key < 30; key += 1)
    while (turns.free(ofOwner(`${owner}-${key}`))) {
      turns.take(ofOwner(`${owner}-${key}`))
      taken += 1
    }
  return taken
}

test('all keys of one owner together take half, and each greedy one after it half of the rest: whoever comes finds some left', () => {
  const turns = createFairQueue()
  expect(takeAll(turns, 'ann')).toBe(64)
  const others = Array.from({ length: 5 }, (_, index) => takeAll(turns, `owner${index}`))
  expect(others).toEqual([32, 16, 8, 4, 2])
  expect(turns.free(ofOwner('new-1'))).toBe(true)
})

test('what greedy owners give back goes to those who have less, in turn by owner and by key', () => {
  const turns = createFairQueue({ all: 4 })
  const gone: string[] = []
  const wait = (keyId: string, name = keyId): (() => void) =>
    turns.wait(ofOwner(keyId), {
      waitMs: minute,
      go: () => {
        turns.take(ofOwner(keyId))
        gone.push(name)
        return nothing
      },
      late: never,
    })
  expect([takeAll(turns, 'ann'), takeAll(turns, 'bob'), takeAll(turns, 'cyd')]).toEqual([2, 1, 1])
  wait('ann-1', 'first of ann-1')
  wait('ann-1', 'second of ann-1')
  wait('ann-2')
  wait('dan-1')
  wait('eve-1')()
  turns.give(ofOwner('ann-0'))
  // One is free, and ann has one already.
  expect(gone).toEqual(['dan-1'])
  turns.give(ofOwner('bob-0'))
  turns.give(ofOwner('cyd-0'))
  expect(gone).toEqual(['dan-1', 'first of ann-1'])
  turns.give(ofOwner('dan-1'))
  turns.give(ofOwner('ann-0'))
  expect(gone).toEqual(['dan-1', 'first of ann-1', 'ann-2'])
})

test('whatever owners take, wait for and give back: nobody waits who might go, and all are let go in the end', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(2), fc.boolean()), { maxLength: 200 }), (steps) => {
      const turns = createFairQueue({ all: 6, most: 3 })
      const open: SlotOf[] = []
      const waiting = new Map<object, SlotOf>()
      for (const [owner, key, begins] of steps) {
        const one = ofOwner(`owner${owner}-${owner}${key}`)
        if (!begins) {
          const ended = open.shift()
          if (ended !== undefined) turns.give(ended)
        } else if (turns.free(one)) {
          turns.take(one)
          open.push(one)
        } else {
          const mark = {}
          waiting.set(mark, one)
          turns.wait(one, {
            waitMs: minute,
            go: () => {
              waiting.delete(mark)
              turns.take(one)
              open.push(one)
              return nothing
            },
            late: never,
          })
        }
        expect(open.length).toBeLessThanOrEqual(6)
        for (const each of waiting.values()) expect(turns.free(each)).toBe(false)
      }
      for (let ended = open.shift(); ended !== undefined; ended = open.shift()) turns.give(ended)
      expect(waiting.size).toBe(0)
    }),
  )
})
