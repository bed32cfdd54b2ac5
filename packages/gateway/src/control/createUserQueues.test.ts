import { expect, test } from 'vitest'
import { createUserQueues } from './createUserQueues.ts'

test('each user runs two tasks at once, in order, and a task is rejected when the queue is full', async () => {
  const queues = createUserQueues({ maxConcurrent: 2, maxQueued: 2 })
  const started: string[] = []
  const finish = new Map<string, () => void>()
  const start = (user: string, name: string): Promise<string> =>
    queues.run(user, async () => {
      started.push(name)
      await new Promise<void>((resolve) => finish.set(name, resolve))
      if (name === 'b') throw new Error('failed')
      return name
    })
  const [first, second, third, fourth] = [start('one', 'a'), start('one', 'b'), start('one', 'c'), start('one', 'd')]
  expect(await start('one', 'e')).toBe('full')
  const other = start('two', 'f')
  expect(started).toEqual(['a', 'b', 'f'])
  finish.get('b')?.()
  await expect(second).rejects.toThrow('failed')
  expect(started).toEqual(['a', 'b', 'f', 'c'])
  finish.get('a')?.()
  expect(await first).toBe('a')
  finish.get('c')?.()
  expect(await third).toBe('c')
  finish.get('d')?.()
  finish.get('f')?.()
  expect(await Promise.all([fourth, other])).toEqual(['d', 'f'])
  // No state is left behind.
  const again = [start('one', 'g'), start('one', 'h')]
  expect(started.slice(-2)).toEqual(['g', 'h'])
  for (const name of ['g', 'h']) finish.get(name)?.()
  expect(await Promise.all(again)).toEqual(['g', 'h'])
})
