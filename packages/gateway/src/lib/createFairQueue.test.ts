import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFairQueue } from './createFairQueue.ts'
import type { FairQueue, SlotHolder } from './createFairQueue.ts'

const minute = 60_000
const never = (): void => expect.unreachable('no call is rejected')
const nothing = (): void => {}
/** A key whose owner has no other keys. */
const holder = (keyId: string): SlotHolder => ({ keyId, ownerId: `owner of ${keyId}` })
/** The keys `ann-1` and `ann-2` belong to the owner `ann`. */
const ownedBy = (keyId: string): SlotHolder => ({ keyId, ownerId: keyId.split('-')[0] ?? '' })

test('calls above the limit of a key wait in order, and run when earlier calls end; other keys are not affected', () => {
  const queue = createFairQueue({ slotsPerKey: 2 })
  const started: string[] = []
  queue.acquire(holder('a'))
  queue.acquire(holder('a'))
  expect([queue.hasSlot(holder('a')), queue.hasSlot(holder('b'))]).toEqual([false, true])
  for (const name of ['first', 'second'])
    queue.enqueue(holder('a'), {
      timeoutMs: minute,
      run: (leftMs) => {
        expect(leftMs).toBeLessThanOrEqual(minute)
        queue.acquire(holder('a'))
        started.push(name)
        return nothing
      },
      onReject: never,
    })
  expect(started).toEqual([])
  expect(queue.state()).toEqual({ active: 2, queued: 2 })
  queue.release(holder('a'))
  expect(started).toEqual(['first'])
  expect(queue.state()).toEqual({ active: 2, queued: 1 })
  queue.release(holder('a'))
  expect(started).toEqual(['first', 'second'])
  expect(queue.state()).toEqual({ active: 2, queued: 0 })
  expect(queue.hasSlot(holder('a'))).toBe(false)
})

test('a call that runs without a slot lets the next call run and can still be cancelled; a call that left the queue does not run', () => {
  const queue = createFairQueue({ slotsPerKey: 1 })
  const started: string[] = []
  queue.acquire(holder('a'))
  const wait = (name: string): (() => void) =>
    queue.enqueue(holder('a'), {
      timeoutMs: minute,
      run: () => {
        started.push(name)
        return () => void started.push(`${name} is cancelled`)
      },
      onReject: never,
    })
  const cancel = wait('joins another')
  const leave = wait('left')
  wait('last')
  leave()
  queue.release(holder('a'))
  expect(started).toEqual(['joins another', 'last'])
  cancel()
  expect(started).toEqual(['joins another', 'last', 'joins another is cancelled'])
})

test('calls that end as soon as they run do not grow the stack', () => {
  const queue = createFairQueue({ slotsPerKey: 1, maxQueued: 100_000 })
  let ended = 0
  queue.acquire(holder('a'))
  for (let count = 0; count < 50_000; count += 1)
    queue.enqueue(holder('a'), {
      timeoutMs: minute,
      run: () => {
        queue.acquire(holder('a'))
        ended += 1
        queue.release(holder('a'))
        return nothing
      },
      onReject: never,
    })
  queue.release(holder('a'))
  expect([ended, queue.hasSlot(holder('a'))]).toEqual([50_000, true])
})

test('a full queue rejects a call immediately, and a call whose time is up is rejected', async () => {
  const queue = createFairQueue({ slotsPerKey: 1, maxQueued: 1 })
  queue.acquire(holder('a'))
  const late = new Promise<void>((resolve) => {
    queue.enqueue(holder('a'), {
      timeoutMs: 20,
      run: () => expect.unreachable('no slot is released'),
      onReject: resolve,
    })
  })
  let rejected = false
  queue.enqueue(holder('a'), {
    timeoutMs: minute,
    run: () => expect.unreachable('it is not queued'),
    onReject: () => (rejected = true),
  })
  expect(rejected).toBe(true)
  await late
  queue.release(holder('a'))
  expect(queue.hasSlot(holder('a'))).toBe(true)
})

test('calls in flight are not forgotten, however many keys there are', () => {
  const queue = createFairQueue({ slotsPerKey: 1 })
  queue.acquire(holder('busy'))
  for (let count = 0; count < 5_000; count += 1) {
    queue.acquire(holder(`key-${count}`))
    queue.release(holder(`key-${count}`))
  }
  expect([queue.hasSlot(holder('busy')), queue.hasSlot(holder('key-0'))]).toEqual([false, true])
})

/** Acquires all slots that an owner may have, one key after another. @returns How many. */
const acquireAll = (queue: FairQueue, owner: string): number => {
  let acquired = 0
  for (let key = 0; key < 30; key += 1)
    while (queue.hasSlot(ownedBy(`${owner}-${key}`))) {
      queue.acquire(ownedBy(`${owner}-${key}`))
      acquired += 1
    }
  return acquired
}

test('all keys of one owner together get half of the slots, and each further greedy owner half of the rest, so a new owner finds a free slot', () => {
  const queue = createFairQueue()
  expect(acquireAll(queue, 'ann')).toBe(64)
  const others = Array.from({ length: 5 }, (_, index) => acquireAll(queue, `owner${index}`))
  expect(others).toEqual([32, 16, 8, 4, 2])
  expect(queue.hasSlot(ownedBy('new-1'))).toBe(true)
})

test('slots that greedy owners release go to owners with fewer slots, round robin by owner and by key', () => {
  const queue = createFairQueue({ slots: 4 })
  const started: string[] = []
  const wait = (keyId: string, name = keyId): (() => void) =>
    queue.enqueue(ownedBy(keyId), {
      timeoutMs: minute,
      run: () => {
        queue.acquire(ownedBy(keyId))
        started.push(name)
        return nothing
      },
      onReject: never,
    })
  expect([acquireAll(queue, 'ann'), acquireAll(queue, 'bob'), acquireAll(queue, 'cyd')]).toEqual([2, 1, 1])
  wait('ann-1', 'first of ann-1')
  wait('ann-1', 'second of ann-1')
  wait('ann-2')
  wait('dan-1')
  wait('eve-1')()
  queue.release(ownedBy('ann-0'))
  // One slot is free, and ann has one already.
  expect(started).toEqual(['dan-1'])
  queue.release(ownedBy('bob-0'))
  queue.release(ownedBy('cyd-0'))
  expect(started).toEqual(['dan-1', 'first of ann-1'])
  queue.release(ownedBy('dan-1'))
  queue.release(ownedBy('ann-0'))
  expect(started).toEqual(['dan-1', 'first of ann-1', 'ann-2'])
})

test('after any sequence of acquire, enqueue and release: no call waits that could run, and all calls run in the end', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(2), fc.boolean()), { maxLength: 200 }), (steps) => {
      const queue = createFairQueue({ slots: 6, slotsPerKey: 3 })
      const open: SlotHolder[] = []
      const waiting = new Map<object, SlotHolder>()
      for (const [owner, key, isStart] of steps) {
        const one = ownedBy(`owner${owner}-${owner}${key}`)
        if (!isStart) {
          const ended = open.shift()
          if (ended !== undefined) queue.release(ended)
        } else if (queue.hasSlot(one)) {
          queue.acquire(one)
          open.push(one)
        } else {
          const mark = {}
          waiting.set(mark, one)
          queue.enqueue(one, {
            timeoutMs: minute,
            run: () => {
              waiting.delete(mark)
              queue.acquire(one)
              open.push(one)
              return nothing
            },
            onReject: never,
          })
        }
        expect(open.length).toBeLessThanOrEqual(6)
        for (const each of waiting.values()) expect(queue.hasSlot(each)).toBe(false)
      }
      for (let ended = open.shift(); ended !== undefined; ended = open.shift()) queue.release(ended)
      expect(waiting.size).toBe(0)
    }),
  )
})
