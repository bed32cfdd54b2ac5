import { setImmediate as nextRound } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { isStorageError } from '../../errors/storageError.ts'
import { createMutex } from './createMutex.ts'

describe('createMutex', () => {
  test('locks for one caller at a time, in order', async () => {
    const mutex = createMutex({ waitMs: 60_000, sliceMs: 60_000 })
    const order: string[] = []
    await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        await mutex.acquire()
        order.push(`${name} starts`)
        await nextRound()
        order.push(`${name} ends`)
        mutex.release()
      }),
    )
    expect(order).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends'])
  })

  test('rejects a caller that waited too long, and serves the others', async () => {
    const mutex = createMutex({ waitMs: 20, sliceMs: 1_000 })
    await mutex.acquire()
    await expect(mutex.acquire()).rejects.toSatisfy((error) => isStorageError(error, 'busy'))
    mutex.release()
    await expect(mutex.acquire()).resolves.toBeUndefined()
    mutex.release()
  })

  test('passes the lock on in a later turn of the event loop once the slice is over', async () => {
    const mutex = createMutex({ waitMs: 60_000, sliceMs: 0 })
    await mutex.acquire()
    let isLocked = false
    const next = mutex.acquire().then(() => {
      isLocked = true
    })
    mutex.release()
    await Promise.resolve()
    await Promise.resolve()
    expect(isLocked).toBe(false)
    await next
    mutex.release()
  })

  test('after close, rejects new callers and waits for earlier ones', async () => {
    const mutex = createMutex({ waitMs: 60_000, sliceMs: 60_000 })
    await mutex.acquire()
    const waiting = mutex.acquire()
    let closed = false
    const closing = mutex.close().then(() => {
      closed = true
    })
    await expect(mutex.acquire()).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    mutex.release()
    await waiting
    await nextRound()
    expect(closed).toBe(false)
    mutex.release()
    await closing
    expect(closed).toBe(true)
  })
})
