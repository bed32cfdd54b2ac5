import { expect, test } from 'vitest'
import type { MetricsView } from '../contract/metrics.ts'
import { toCsvFileName, toMetricsCsv } from './metricsCsv.ts'

test('quotes cells where needed, and escapes spreadsheet formulas', () => {
  const byOutcome = ['a,b', 'say "so"', 'two\nlines', '=1+1', '@x', '-1', 'plain'].map((outcome) => ({
    outcome,
    total: -1,
  }))
  expect(toMetricsCsv({ byOutcome } as unknown as MetricsView, 'outcomes')).toBe(
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

const week = { range: 'week', of: 'methods' } as const

test('names a file after the app or key, its network, the rows and the range', () => {
  expect(toCsvFileName({ id: 'app_0a', name: 'Portfolio' }, week)).toBe('keyrail-portfolio-methods-week.csv')
  expect(
    toCsvFileName({ id: 'key_0a', name: 'Nightly job', network: 'mainnet' }, { range: 'hour', of: 'series' }),
  ).toBe('keyrail-nightly-job-mainnet-series-hour.csv')
})

test('file names contain only letters, digits and hyphens, and fall back to the id', () => {
  const names = {
    'Räksmörgås №1': 'raksmorgas-no1',
    '../../etc/passwd': 'etc-passwd',
    '"; filename=x.exe\r\nX: y': 'filename-x-exe-x-y',
    'ＦＵＬＬ  width': 'full-width',
    '👩‍🚀 数据 مرحبا': 'app-0a',
    '-': 'app-0a',
    [`${'x'.repeat(39)}!y`]: 'x'.repeat(39),
  }
  for (const [name, expected] of Object.entries(names))
    expect(toCsvFileName({ id: 'app_0a', name }, week)).toBe(`keyrail-${expected}-methods-week.csv`)
})
