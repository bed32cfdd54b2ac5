import { expect, test } from 'vitest'
import { roundTop } from './scale.ts'

test('the top of a chart is above all values, but not far', () => {
  for (let most = 0; most < 100_000; most = most * 1.3 + 0.7) {
    const top = roundTop(most)
    expect(top).toBeGreaterThanOrEqual(most)
    expect(top).toBeLessThanOrEqual(Math.max(8, most * 1.501))
    expect(top % 4).toBe(0)
  }
})

test('a value that is a round number is the top', () => {
  for (const most of [4, 8, 12, 100, 1_000, 2_400, 60_000]) expect(roundTop(most)).toBe(most)
})
