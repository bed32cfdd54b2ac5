import { expect, test } from 'vitest'
import { toCsv, toCsvFileName } from './csv.ts'

test('quotes cells where needed, and escapes spreadsheet formulas', () => {
  const texts = ['a,b', 'say "so"', 'two\nlines', '=1+1', '@x', '-1', 'plain', null]
  expect(toCsv([['text', 'number'], ...texts.map((text) => [text, -1])])).toBe(
    [
      'text,number',
      '"a,b",-1',
      '"say ""so""",-1',
      '"two\nlines",-1',
      "'=1+1,-1",
      "'@x,-1",
      "'-1,-1",
      'plain,-1',
      ',-1',
      '',
    ].join('\r\n'),
  )
})

const content = ['methods', 'week']

test('names a file after the app or key, its network and its content', () => {
  expect(toCsvFileName({ id: 'app_0a', name: 'Portfolio' }, content)).toBe('keyrail-portfolio-methods-week.csv')
  expect(toCsvFileName({ id: 'key_0a', name: 'Nightly job', network: 'mainnet' }, ['series', 'hour'])).toBe(
    'keyrail-nightly-job-mainnet-series-hour.csv',
  )
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
    expect(toCsvFileName({ id: 'app_0a', name }, content)).toBe(`keyrail-${expected}-methods-week.csv`)
})
