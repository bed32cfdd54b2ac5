import { describe, expect, test } from 'vitest'
import { transactionHash } from './transactionHash.ts'
import type { Keccak256 } from './transactionHash.ts'

const hash = `0x${'aB'.repeat(32)}` as const

/** Returns the part of a transaction that is hashed. */
const getHashedBytes = (raw: unknown): string | undefined => {
  let hashed: string | undefined
  transactionHash(raw, (hex) => {
    hashed = hex
    return hash
  })
  return hashed
}

/** RLP, as hex without 0x. */
const bytes = (text: string): string => {
  const length = text.length / 2
  return length === 1 && Number(`0x${text}`) < 0x80 ? text : head(0x80, length) + text
}
const list = (...items: string[]): string => head(0xc0, items.join('').length / 2) + items.join('')
const head = (base: number, length: number): string => {
  if (length < 56) return (base + length).toString(16).padStart(2, '0')
  const digits = length.toString(16)
  const whole = digits.padStart(digits.length + (digits.length % 2), '0')
  return (base + 55 + whole.length / 2).toString(16) + whole
}

describe('transactionHash', () => {
  // Also types that single chains have: 0x7b is Celo's, and 0x05 may be the next one.
  const types = ['0xf86c0a', '0xc0', '0x01f8', '0x02f8', '0x04f8', '0x02C0', '0x05f8', '0x7bf8', '0x7Ff8']
  test.each(types)('hashes all of %s', (raw) => {
    expect(getHashedBytes(`${raw}00`)).toBe(`${raw}00`)
    expect(transactionHash(`${raw}00`, () => hash)).toBe(hash.toLowerCase())
  })

  test.each([
    ['short', ['01', '02', bytes('aa'.repeat(20))]],
    ['long', ['01', '02', bytes('aa'.repeat(200))]],
    ['very long', ['01', '02', bytes('aa'.repeat(70_000))]],
  ])('hashes a blob transaction without its sidecar: %s', (_, fields) => {
    const body = list(...fields)
    const blob = list(bytes('bb'.repeat(131_072)))
    const proofs = list(bytes('cc'.repeat(48)))
    expect(getHashedBytes(`0x03${body}`)).toBe(`0x03${body}`)
    // EIP-4844, and EIP-7594 with a version.
    expect(getHashedBytes(`0x03${list(body, blob, proofs, proofs)}`)).toBe(`0x03${body}`)
    expect(getHashedBytes(`0x03${list(body, '01', blob, proofs, proofs)}`)).toBe(`0x03${body}`)
  })

  test('does not hash a transaction of ZKsync, whose hash is not that of its bytes', () => {
    expect(transactionHash('0x71f8', () => hash)).toBeUndefined()
    expect(getHashedBytes('0x71f8')).toBeUndefined()
  })

  test.each([
    undefined,
    null,
    7,
    {},
    [],
    '',
    '0x',
    '0x0',
    '0x02',
    '0x02f',
    '02f8',
    '0X02f8',
    '0x02fg',
    ' 0x02f8',
    '0x02f8\n',
    '0x80f8',
    '0xbff8',
  ])('rejects %j', (raw) => {
    expect(() => transactionHash(raw, () => hash)).toThrow('the param must be a signed transaction as hex')
  })

  test('rejects a truncated blob transaction', () => {
    const body = list('01', bytes('aa'.repeat(200)))
    expect(() => transactionHash(`0x03${list(body, '01')}`.slice(0, 100), () => hash)).toThrow('is incomplete')
  })

  test.each<[string, unknown]>([
    ['nothing', () => undefined],
    ['bytes', () => new Uint8Array(32)],
    ['a short hash', () => '0xab'],
    [
      'an error',
      () => {
        throw new Error('0x02c0 is secret')
      },
    ],
  ])('rejects a keccak256 that returns %s, and does not show its value', (_, keccak256) => {
    expect(() => transactionHash('0x02c0', keccak256 as Keccak256)).toThrow(/^keccak256 returned no hash/)
  })
})
