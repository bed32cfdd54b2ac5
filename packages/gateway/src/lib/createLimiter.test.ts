import { expect, test } from 'vitest'
import { createKeyedLimiter, createLimiter } from './createLimiter.ts'

test('runs queued work in order as slots become free, and rejects work beyond the queue', async () => {
  const limiter = createLimiter({ maxRunning: 2, maxQueued: 1 })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const start = (name: string): Promise<string> =>
    limiter.run(async () => {
      started.push(name)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      return name
    })
  const all = [start('a'), start('b'), start('c'), start('d')]
  expect(await all[3]).toBe('full')
  expect([started, limiter.isIdle()]).toEqual([['a', 'b'], false])
  ends.get('a')?.()
  await all[0]
  expect(started).toEqual(['a', 'b', 'c'])
  ends.get('b')?.()
  ends.get('c')?.()
  await Promise.all(all)
  expect(limiter.isIdle()).toBe(true)
})

test('limits each key on its own, also after work failed and after a key was idle', async () => {
  const limiter = createKeyedLimiter({ maxRunning: 2, maxQueued: 2 })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const start = (key: string, name: string): Promise<string> =>
    limiter.run(key, async () => {
      started.push(name)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      if (name === 'b') throw new Error('failed')
      return name
    })
  const [first, second, third, fourth] = [start('one', 'a'), start('one', 'b'), start('one', 'c'), start('one', 'd')]
  expect(await start('one', 'e')).toBe('full')
  const other = start('two', 'f')
  expect(started).toEqual(['a', 'b', 'f'])
  ends.get('b')?.()
  await expect(second).rejects.toThrow('failed')
  expect(started).toEqual(['a', 'b', 'f', 'c'])
  ends.get('a')?.()
  expect(await first).toBe('a')
  ends.get('c')?.()
  expect(await third).toBe('c')
  ends.get('d')?.()
  ends.get('f')?.()
  expect(await Promise.all([fourth, other])).toEqual(['d', 'f'])
  const again = [start('one', 'g'), start('one', 'h')]
  expect(started.slice(-2)).toEqual(['g', 'h'])
  for (const name of ['g', 'h']) ends.get(name)?.()
  expect(await Promise.all(again)).toEqual(['g', 'h'])
})
