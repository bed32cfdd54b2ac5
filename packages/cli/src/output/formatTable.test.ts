import { describe, expect, test } from 'vitest'
import { formatTable } from './formatTable.ts'
import { coloured, plain, getStyle } from './style.ts'

describe('formatTable', () => {
  test('sets columns under each other', () => {
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

  test('colour does not move a column', () => {
    const [first, second] = formatTable([
      [coloured.good('ok'), 'a'],
      ['long', 'b'],
    ])
    expect(first).toBe(`${coloured.good('ok')}    a`)
    expect(second).toBe('long  b')
  })

  test('no rows are no lines', () => {
    expect(formatTable([])).toEqual([])
  })
})

describe('getStyle', () => {
  test.each([
    [{ isTTY: true }, {}, coloured],
    [{ isTTY: true }, { NO_COLOR: '1' }, plain],
    [{ isTTY: true }, { NO_COLOR: '' }, coloured],
    [{ isTTY: true }, { TERM: 'dumb' }, plain],
    [{ isTTY: false }, {}, plain],
    [{}, {}, plain],
  ])('%j with %j', (stream, environment, style) => {
    expect(getStyle(stream, environment)).toBe(style)
  })
})
