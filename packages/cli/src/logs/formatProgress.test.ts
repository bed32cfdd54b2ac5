import { describe, expect, test } from 'vitest'
import { createRateMeter } from './exportRate.ts'
import { formatProgress } from './formatProgress.ts'

const progress = { blocksDone: 90_000, blocksTotal: 200_000, logs: 450_123 }
const rate = { logsPerSecond: 81_234.4, secondsLeft: 3_725.2 }

describe('formatProgress', () => {
  test('shows blocks, logs, the rate and the time left', () => {
    const line = formatProgress(progress, rate, 120)
    expect(line).toMatch(/^ 45 % ━+─+ 90,000 of 200,000 blocks · 450,123 logs · 81,234\/s · 1:02:06 left$/)
    const [filled = '', empty = ''] = [/━+/.exec(line)?.[0], /─+/.exec(line)?.[0]]
    expect(filled.length / (filled.length + empty.length)).toBeCloseTo(0.45, 1)
  })

  test.each([20, 60, 72, 79, 80, 120, 300])('fits a terminal of %i columns', (columns) => {
    expect(formatProgress(progress, rate, columns).length).toBeLessThan(columns)
  })

  test('omits the bar first', () => {
    expect(formatProgress(progress, rate, 75)).toMatch(/^ 45 % 90,000 of/)
  })

  test('shows that the time left is unknown', () => {
    expect(formatProgress(progress, { logsPerSecond: 0, secondsLeft: undefined }, 100)).toContain('-:-- left')
  })
})

describe('createRateMeter', () => {
  test('starts without a rate', () => {
    const getRate = createRateMeter()
    expect(getRate({ blocksDone: 0, blocksTotal: 1_000, logs: 0 }, 5_000)).toEqual({
      logsPerSecond: 0,
      secondsLeft: undefined,
    })
    expect(getRate({ blocksDone: 100, blocksTotal: 1_000, logs: 500 }, 7_000)).toEqual({
      logsPerSecond: 250,
      secondsLeft: 18,
    })
  })

  test('only covers the last ten seconds', () => {
    const getRate = createRateMeter()
    getRate({ blocksDone: 0, blocksTotal: 1_000, logs: 0 }, 0)
    for (let second = 1; second <= 20; second++) {
      getRate({ blocksDone: 0, blocksTotal: 1_000, logs: 0 }, second * 1_000)
    }
    const { secondsLeft } = getRate({ blocksDone: 500, blocksTotal: 1_000, logs: 0 }, 30_000)
    expect(secondsLeft).toBe(10)
  })

  test('ignores the progress of earlier runs', () => {
    const getRate = createRateMeter()
    getRate({ blocksDone: 900, blocksTotal: 1_000, logs: 4_500 }, 0)
    expect(getRate({ blocksDone: 910, blocksTotal: 1_000, logs: 4_550 }, 1_000)).toEqual({
      logsPerSecond: 50,
      secondsLeft: 9,
    })
  })
})
