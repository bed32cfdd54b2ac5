import { describe, expect, test } from 'vitest'
import { readArguments } from './readArguments.ts'

describe('readArguments', () => {
  test('selects every row in full by default', () => {
    const defaults = readArguments([])
    expect(defaults).toMatchObject({ rounds: 25, withPeers: false })
    expect(defaults.only).toEqual(expect.arrayContaining(['sequential', 'flood', 'cold', 'mockLogs']))
  })

  test('accepts rows, rounds and peers', () => {
    expect(readArguments(['--only', 'sequential,cold', '--rounds', '7', '--peers'])).toEqual({
      only: ['sequential', 'cold'],
      rounds: 7,
      withPeers: true,
    })
    expect(readArguments(['--quick']).rounds).toBe(5)
  })

  test.each([
    [['--only', 'nothing'], /Unknown row "nothing".*sequential/],
    [['--rounds', '0'], /integer of at least 1/],
    [['--rounds', 'many'], /integer of at least 1/],
    [['--fast'], /--fast/],
  ])('rejects %j', (args, message) => {
    expect(() => readArguments(args)).toThrow(message)
  })
})
