import { expect, test } from 'vitest'
import { createKeyTurns } from './createKeyTurns.ts'

const minute = 60_000
const never = (): void => expect.unreachable('nobody is late')
const nothing = (): void => {}

test('one beyond waits in the order it came, and goes when one before it has ended; other keys are not touched', () => {
  const turns = createKeyTurns({ most: 2 })
  const gone: string[] = []
  turns.take('a')
  turns.take('a')
  expect([turns.free('a'), turns.free('b')]).toEqual([false, true])
  for (const name of ['first', 'second'])
    turns.wait('a', {
      waitMs: minute,
      go: (leftMs) => {
        expect(leftMs).toBeLessThanOrEqual(minute)
        turns.take('a')
        gone.push(name)
        return nothing
      },
      late: never,
    })
  expect(gone).toEqual([])
  turns.give('a')
  expect(gone).toEqual(['first'])
  turns.give('a')
  expect(gone).toEqual(['first', 'second'])
  expect(turns.free('a')).toBe(false)
})

test('one that is let go and takes nothing lets the next one go and can still be stopped; who left is not let go', () => {
  const turns = createKeyTurns({ most: 1 })
  const gone: string[] = []
  turns.take('a')
  const wait = (name: string): (() => void) =>
    turns.wait('a', {
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
  turns.give('a')
  expect(gone).toEqual(['joins another', 'last'])
  stop()
  expect(gone).toEqual(['joins another', 'last', 'joins another is stopped'])
})

test('a thousand that end at once when let go use no stack for it', () => {
  const turns = createKeyTurns({ most: 1, mostWaiting: 100_000 })
  let ended = 0
  turns.take('a')
  for (let count = 0; count < 50_000; count += 1)
    turns.wait('a', {
      waitMs: minute,
      go: () => {
        turns.take('a')
        ended += 1
        turns.give('a')
        return nothing
      },
      late: never,
    })
  turns.give('a')
  expect([ended, turns.free('a')]).toEqual([50_000, true])
})

test('a full line takes nobody, and a turn that does not come in time is told as late', async () => {
  const turns = createKeyTurns({ most: 1, mostWaiting: 1 })
  turns.take('a')
  const late = new Promise<void>((resolve) => {
    turns.wait('a', { waitMs: 20, go: () => expect.unreachable('no turn is given back'), late: resolve })
  })
  let refused = false
  turns.wait('a', {
    waitMs: minute,
    go: () => expect.unreachable('it is not in the line'),
    late: () => (refused = true),
  })
  expect(refused).toBe(true)
  await late
  turns.give('a')
  expect(turns.free('a')).toBe(true)
})

test('what is under way is not forgotten, however many keys come', () => {
  const turns = createKeyTurns({ most: 1 })
  turns.take('busy')
  for (let count = 0; count < 5_000; count += 1) {
    turns.take(`key-${count}`)
    turns.give(`key-${count}`)
  }
  expect([turns.free('busy'), turns.free('key-0')]).toEqual([false, true])
})
