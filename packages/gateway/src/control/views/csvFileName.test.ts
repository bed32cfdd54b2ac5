import { expect, test } from 'vitest'
import { csvFileName } from './csvFileName.ts'

const week = { range: 'week', of: 'methods' } as const

test('a file of metrics is named by the app or the key, its network, the rows and the range', () => {
  expect(csvFileName({ id: 'app_0a', name: 'Portfolio' }, week)).toBe('keyrail-portfolio-methods-week.csv')
  expect(csvFileName({ id: 'key_0a', name: 'Nightly job', network: 'mainnet' }, { range: 'hour', of: 'series' })).toBe(
    'keyrail-nightly-job-mainnet-series-hour.csv',
  )
})

test('whatever a name holds, its file is named by letters, digits and hyphens, and never by nothing', () => {
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
    expect(csvFileName({ id: 'app_0a', name }, week)).toBe(`keyrail-${expected}-methods-week.csv`)
})
