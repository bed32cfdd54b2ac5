import { describe, expect, test } from 'vitest'
import { formatTable } from './formatTable.ts'
import { colored, plain, getStyle } from './style.ts'

describe('formatTable', () => {
  test('aligns columns', () => {
    expect(
      formatTable(
        [
          ['NETWORK', 'BLOCK', 'HASH'],
          ['testnet', '10', '0xab'],
          ['main', '9', ''],
        ],
        '  ',
      ),
    ).toEqual(['  NETWORK  BLOCK  HASH', '  testnet  10     0xab', '  main     9'])
  })

  test('ignores colors in the width', () => {
    const [first, second] = formatTable([
      [colored.good('ok'), 'a'],
      ['long', 'b'],
    ])
    expect(first).toBe(`${colored.good('ok')}    a`)
    expect(second).toBe('long  b')
  })

  test('returns no lines without rows', () => {
    expect(formatTable([])).toEqual([])
  })
})

describe('getStyle', () => {
  test.each([
    [{ isTTY: true }, {}, colored],
    [{ isTTY: true }, { NO_COLOR: '1' }, plain],
    [{ isTTY: true }, { NO_COLOR: '' }, colored],
    [{ isTTY: true }, { TERM: 'dumb' }, plain],
    [{ isTTY: false }, {}, plain],
    [{}, {}, plain],
  ])('%j with %j', (stream, environment, style) => {
    expect(getStyle(stream, environment)).toBe(style)
  })
})
