import { describe, expect, test } from 'vitest'
import { formatBars, formatRow } from './formatResults.ts'
import type { MeasuredFigures } from './measureFigures.ts'

const measured = (figures: Record<string, readonly number[]>): MeasuredFigures => ({
  row: {
    name: 'figures',
    title: 'Figures',
    program: 'figures.mjs',
    figures: [
      { key: 'time', title: 'a question', unit: 'ms', most: 50 },
      { key: 'size', title: 'RSS', unit: 'MB' },
    ],
    note: 'What to know.',
  },
  figures: new Map(Object.entries(figures)),
  problems: new Map(Object.keys(figures).length ? [] : [['figures', 'the program ended with 1']]),
  load: [0.5, 1],
})

describe('a row of figures', () => {
  test('is a table of absolute figures, with its note', () => {
    expect(formatRow(measured({ time: [4.26, 90, 1], size: [268.4] })).split('\n')).toEqual([
      '### Figures (`figures`)',
      '',
      'Fresh processes of 5 rounds at most; load of the machine 0.5 before, 1.0 after.',
      '',
      '| figure     | unit | median | from |   to | lowest | highest | times taken |',
      '| ---------- | ---: | -----: | ---: | ---: | -----: | ------: | ----------: |',
      '| a question |   ms |    4.3 |  1.0 | 90.0 |    1.0 |    90.0 |           3 |',
      '| RSS        |   MB |    268 |  268 |  268 |    268 |     268 |           1 |',
      '',
      'What to know.',
    ])
  })

  test('shows its bars with their unit, without a reference', () => {
    const [, , line] = formatBars([measured({ time: [4.26, 90, 1], size: [268.4] })]).split('\n')
    expect(line?.split('|').map((cell) => cell.trim())).toEqual([
      '',
      'Figures',
      'a question',
      '',
      'time',
      '4.3 ms',
      '50 ms',
      '',
      'met',
      '',
    ])
  })

  test('says why the program could not measure', () => {
    expect(formatRow(measured({}))).toContain('Not measured: figures (the program ended with 1).')
    expect(formatBars([measured({})])).toContain('not measured')
  })
})
