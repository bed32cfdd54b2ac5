import { expect, test } from 'vitest'
import { startUpkeep } from './startUpkeep.ts'

test('work is done at once and again and again, one at a time, also after one that failed, and ends when it is told to', async () => {
  let begun = 0
  let atOnce = 0
  const seen: number[] = []
  const stop = startUpkeep({
    everyMs: 1,
    work: async (stopped) => {
      begun += 1
      atOnce += 1
      seen.push(atOnce)
      await new Promise((resolve) => setTimeout(resolve, 5))
      atOnce -= 1
      if (begun === 2) throw new Error('not today')
      if (begun === 4) {
        stop()
        expect(stopped()).toBe(true)
      }
    },
  })
  expect(begun).toBe(1)
  await expect.poll(() => begun).toBe(4)
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect([begun, ...seen]).toEqual([4, 1, 1, 1, 1])
})
