import { failures } from '@keyrail/vectors'
import { describe, expect, test } from 'vitest'
import { ACCEPTED_GROWTH, costGrowth } from '../../test/costGrowth.ts'
import { toRevert } from './toRevert.ts'

const custom = '0x82b42900'

describe('toRevert', () => {
  test.each([
    ['code 3', { code: 3, message: 'execution reverted', data: custom }],
    ['-32000 with the words', { code: -32_000, message: 'execution reverted', data: custom }],
    [
      '-32015 with a word before the bytes',
      { code: -32_015, message: 'VM execution error.', data: `Reverted ${custom}` },
    ],
    [
      'nested, as wallets do',
      { code: -32_603, message: 'Internal error', data: { code: 3, data: custom, message: 'x' } },
    ],
    [
      'nested twice',
      { code: -32_603, message: 'Internal JSON-RPC error.', data: { originalError: { code: 3, data: custom } } },
    ],
    ['beside a hash', { code: -32_000, message: 'revert', data: { ['0x' + 'ab'.repeat(32)]: { return: custom } } }],
    ['in the message alone', { code: -32_000, message: `execution reverted: ${custom}` }],
  ])('reads %s', (_, error) => {
    expect(toRevert(error)).toMatchObject({ code: 3, message: expect.stringMatching(/revert/), data: custom })
  })

  test.each(['revert', 'revert: 0x', '0x'])('takes time linear in a message of many %j', (part) => {
    const growth = costGrowth(60_000 / part.length, (size) => {
      const message = part.repeat(size)
      return () => toRevert({ code: 3, message })
    })
    expect(growth).toBeLessThan(ACCEPTED_GROWTH)
  })

  test('keeps the reason that a node gives', () => {
    const message = 'execution reverted: ERC20: transfer amount exceeds balance'
    expect(toRevert({ code: -32_000, message })).toEqual({ code: 3, message })
  })

  test('leaves other failures unchanged: out of gas, an invalid opcode', () => {
    for (const message of [
      'out of gas',
      'invalid opcode: opcode 0xfe not defined',
      'gas required exceeds allowance (5)',
    ]) {
      const error = { code: -32_000, message }
      expect(toRevert(error)).toBe(error)
    }
  })

  test('accepts only hex bytes as data', () => {
    for (const data of ['0xabc', 'no hex', 5, null, [custom], { message: custom }, { data: { a: custom } }])
      expect(toRevert({ code: 3, message: 'execution reverted', data })).not.toHaveProperty('data')
  })

  test('does not follow circular references', () => {
    const data: Record<string, unknown> = {}
    data['data'] = data
    expect(toRevert({ code: 3, message: 'execution reverted', data })).toEqual({
      code: 3,
      message: 'execution reverted',
    })
  })

  test('returns code 3 for every revert of the vectors that has data', () => {
    let seen = 0
    for (const { expect: expected, response } of failures) {
      const { error } = Object(Object(response).body) as { error?: { code: number; message: string; data?: unknown } }
      if (expected.kind !== 'revert' || !error || !/0x[\da-f]{8}/.test(JSON.stringify(error.data ?? ''))) continue
      seen++
      expect(toRevert(error), JSON.stringify(error)).toMatchObject({
        code: 3,
        data: expect.stringMatching(/^0x[\da-f]+$/),
      })
    }
    expect(seen).toBeGreaterThan(5)
  })

  test('reads a long message in linear time', () => {
    const message = 'revert'.repeat(1_000_000)
    expect(toRevert({ code: 3, message })).toEqual({ code: 3, message })
    expect(toRevert({ code: 3, message: `${message}: 0x08c379a0` })).toMatchObject({ data: '0x08c379a0' })
  })
})
