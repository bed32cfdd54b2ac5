import fc from 'fast-check'
import { toRlp } from 'viem'
import { expect, test } from 'vitest'
import { fromHex, toIntegerBytes, toHex, toInteger } from './hex.ts'
import { decodeRlp, encodeRlp } from './rlp.ts'
import type { Rlp } from './rlp.ts'

interface Nested {
  readonly value: Rlp
}
const { value: rlp } = fc.letrec<Nested>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.uint8Array({ maxLength: 3 }),
    fc.uint8Array({ minLength: 50, maxLength: 70 }),
    fc.uint8Array({ minLength: 250, maxLength: 300 }),
    fc.array(tie('value') as fc.Arbitrary<Rlp>, { maxLength: 6 }),
  ),
}))
type Hexes = `0x${string}` | Hexes[]
const hexes = (value: Rlp): Hexes => (value instanceof Uint8Array ? toHex(value) : [...(value as Rlp[])].map(hexes))

test('bytes and hex are encoded as by viem, and decoded again', () => {
  fc.assert(
    fc.property(rlp, (value) => {
      const encoded = encodeRlp(value)
      expect(toHex(encoded)).toBe(toRlp(hexes(value)))
      expect(encodeRlp(hexes(value))).toEqual(encoded)
      expect(decodeRlp(encoded)).toEqual(value)
    }),
  )
  // A length of three bytes.
  const long = new Uint8Array(70_000).fill(7)
  expect(decodeRlp(encodeRlp([long]))).toEqual([long])
})

test.each([
  ['nothing', '0x', 'unexpected EOF'],
  ['more than one value', '0x0102', 'more than one value'],
  ['a byte that is written with a length', '0x8101', 'non-canonical size'],
  ['a long form of a short length', '0xb80101', 'non-canonical size'],
  ['a length with zeros in front', `0xb90038${'00'.repeat(56)}`, 'non-canonical size'],
  ['a value that is cut off', '0x8301', 'larger than containing list'],
  ['a list that is cut off', '0xc301', 'larger than containing list'],
  ['a value that leaves its list', '0xc28301', 'larger than containing list'],
  ['a length that is cut off', '0xb9', 'larger than containing list'],
])('%s is rejected', (_, hex, message) => {
  expect(() => decodeRlp(fromHex(hex))).toThrow(message)
})

test('numbers are encoded without leading zeros', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (number) => {
      const bytes = toIntegerBytes(number)
      expect(toInteger(bytes)).toBe(number)
      expect(bytes[0]).not.toBe(0)
    }),
  )
})
