import { setImmediate as nextRound } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { isStorageError } from '../../errors/storageError.ts'
import { createTurns } from './createTurns.ts'

describe('createTurns', () => {
  test('gives turns one at a time, first come first served', async () => {
    const turns = createTurns({ waitMs: 1_000, sliceMs: 1_000 })
    const order: string[] = []
    await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        await turns.take()
        order.push(`${name} begins`)
        await nextRound()
        order.push(`${name} ends`)
        turns.give()
      }),
    )
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  })

  test('rejects who has waited too long, and goes on with the others', async () => {
    const turns = createTurns({ waitMs: 20, sliceMs: 1_000 })
    await turns.take()
    await expect(turns.take()).rejects.toSatisfy((error) => isStorageError(error, 'busy'))
    turns.give()
    await expect(turns.take()).resolves.toBeUndefined()
    turns.give()
  })

  test('begins the next turn in another round of the event loop once a slice is over', async () => {
    const turns = createTurns({ waitMs: 1_000, sliceMs: 0 })
    await turns.take()
    let begun = false
    const next = turns.take().then(() => {
      begun = true
    })
    turns.give()
    await Promise.resolve()
    await Promise.resolve()
    expect(begun).toBe(false)
    await next
    turns.give()
  })

  test('once closed rejects new ones, and waits for those that came before', async () => {
    const turns = createTurns({ waitMs: 1_000, sliceMs: 1_000 })
    await turns.take()
    const waiting = turns.take()
    let closed = false
    const closing = turns.close().then(() => {
      closed = true
    })
    await expect(turns.take()).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    turns.give()
    await waiting
    await nextRound()
    expect(closed).toBe(false)
    turns.give()
    await closing
    expect(closed).toBe(true)
  })
})
