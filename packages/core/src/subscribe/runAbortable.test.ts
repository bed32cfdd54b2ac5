import { describe, expect, test } from 'vitest'
import { runAbortable } from './runAbortable.ts'

/** Waits until the signal is aborted. */
const forEver = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

async function* countThenHang(signal: AbortSignal): AsyncGenerator<number, void, undefined> {
  yield 1
  yield 2
  await forEver(signal)
}

describe('runAbortable', () => {
  test('does nothing until the first next(), and yields the values', async () => {
    let runs = 0
    const values = runAbortable(undefined, async function* () {
      runs++
      yield* [1, 2, 3]
    })
    expect(runs).toBe(0)
    const seen: number[] = []
    for await (const value of values) seen.push(value)
    expect(seen).toEqual([1, 2, 3])
    expect(await values.next()).toEqual({ done: true, value: undefined })
  })

  test('ends a pending next() when return() is called', async () => {
    let inner: AbortSignal | undefined
    const values = runAbortable(undefined, (signal) => {
      inner = signal
      return countThenHang(signal)
    })
    await values.next()
    await values.next()
    const pending = values.next()
    expect(await values.return()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(inner?.aborted).toBe(true)
  })

  test('rejects with the reason of the signal, whether pending or between values', async () => {
    for (const taken of [0, 1, 2]) {
      const controller = new AbortController()
      const values = runAbortable(controller.signal, countThenHang)
      for (let i = 0; i < taken; i++) await values.next()
      const reason = { mine: true }
      const next = taken === 2 ? values.next() : undefined
      controller.abort(reason)
      await expect(next ?? values.next()).rejects.toBe(reason)
      expect(await values.next()).toEqual({ done: true, value: undefined })
    }
  })

  test('aborts pending work as soon as the signal fires, not when the next value is requested', async () => {
    const controller = new AbortController()
    let inner: AbortSignal | undefined
    const values = runAbortable(controller.signal, (signal) => {
      inner = signal
      return countThenHang(signal)
    })
    await values.next()
    controller.abort('stop')
    expect(inner?.reason).toBe('stop')
    await values.return()
  })

  test('leaves no listener on the signal, however it ends', async () => {
    let listeners = 0
    const { signal } = new AbortController()
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--
      remove(...args)
    }
    for await (const value of runAbortable(signal, countThenHang)) if (value === 2) break
    for await (const value of runAbortable(signal, async function* () {
      yield 1
    }))
      expect(value).toBe(1)
    const failing = runAbortable(signal, () => {
      throw new Error('expected failure')
    })
    await expect(failing.next()).rejects.toThrow('expected failure')
    await runAbortable(signal, countThenHang).return()
    expect(listeners).toBe(0)
  })

  test('ends by throw() and by dispose as well', async () => {
    const thrown = runAbortable(undefined, countThenHang)
    await thrown.next()
    await expect(thrown.throw(new Error('from outside'))).rejects.toThrow('from outside')
    expect(await thrown.next()).toMatchObject({ done: true })
    const disposed = runAbortable(undefined, countThenHang)
    await disposed.next()
    await disposed[Symbol.asyncDispose]()
    expect(await disposed.next()).toMatchObject({ done: true })
  })
})
