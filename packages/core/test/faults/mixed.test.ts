import { expect, test } from 'vitest'
import type { Script } from '../faultServer.ts'
import { mixed } from './mixed.ts'
import { seededRandom } from './seededRandom.ts'

/** The fault of each of `count` requests. */
const meetings = (seed: number, count = 20_000): string[] => {
  const met: string[] = []
  const says =
    (name: string): Script =>
    () =>
      void met.push(name)
  const script = mixed({
    random: seededRandom(seed),
    share: 0.2,
    faults: [
      { name: 'often', weight: 3, script: says('often') },
      { name: 'rare', script: says('rare') },
    ],
    normal: says('normal'),
  })
  for (let n = 0; n < count; n++) script({} as never, {} as never, {} as never)
  return met
}

test('faults occur in proportion to their weights', () => {
  const met = meetings(1)
  const part = (name: string): number => met.filter((one) => one === name).length / met.length
  expect(part('normal')).toBeCloseTo(0.8, 1)
  expect(part('often')).toBeCloseTo(0.15, 1)
  expect(part('often') / part('rare')).toBeGreaterThan(2.5)
  expect(part('often') / part('rare')).toBeLessThan(3.5)
})

test('a run is determined by its seed', () => {
  expect(meetings(7)).toEqual(meetings(7))
  expect(meetings(7)).not.toEqual(meetings(8))
})
