import { expect, test } from 'vitest'
import type { MetricsView } from '../contract/metrics.ts'
import { metricsCsv } from './metricsCsv.ts'

test('a cell is quoted where it must be, and is no formula to a spreadsheet', () => {
  const byOutcome = ['a,b', 'say "so"', 'two\nlines', '=1+1', '@x', '-1', 'plain'].map((outcome) => ({
    outcome,
    total: -1,
  }))
  expect(metricsCsv({ byOutcome } as unknown as MetricsView, 'outcomes')).toBe(
    [
      'outcome,total',
      '"a,b",-1',
      '"say ""so""",-1',
      '"two\nlines",-1',
      "'=1+1,-1",
      "'@x,-1",
      "'-1,-1",
      'plain,-1',
      '',
    ].join('\r\n'),
  )
})
