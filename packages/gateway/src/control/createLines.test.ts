import { expect, test } from 'vitest'
import { createLines } from './createLines.ts'

test('each user has so much in flight, in its order, and more than the line takes is not done', async () => {
  const lines = createLines({ atOnce: 2, waiting: 2 })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const start = (user: string, name: string): Promise<string> =>
    lines.run(user, async () => {
      begun.push(name)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      if (name === 'b') throw new Error('failed')
      return name
    })
  const [first, second, third, fourth] = [start('one', 'a'), start('one', 'b'), start('one', 'c'), start('one', 'd')]
  expect(await start('one', 'e')).toBe('full')
  const other = start('two', 'f')
  expect(begun).toEqual(['a', 'b', 'f'])
  ends.get('b')?.()
  await expect(second).rejects.toThrow('failed')
  expect(begun).toEqual(['a', 'b', 'f', 'c'])
  ends.get('a')?.()
  expect(await first).toBe('a')
  ends.get('c')?.()
  expect(await third).toBe('c')
  ends.get('d')?.()
  ends.get('f')?.()
  expect(await Promise.all([fourth, other])).toEqual(['d', 'f'])
  // Nothing is left of what was.
  const again = [start('one', 'g'), start('one', 'h')]
  expect(begun.slice(-2)).toEqual(['g', 'h'])
  for (const name of ['g', 'h']) ends.get(name)?.()
  expect(await Promise.all(again)).toEqual(['g', 'h'])
})
