import fc from 'fast-check'
import { decodeAbiParameters, encodeAbiParameters, parseAbiParameters, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { formatTypes } from './abiType.ts'
import type { AbiParameter, AbiType, AbiValue } from './abiType.ts'
import { decodeAbi } from './decodeAbi.ts'
import { encodeAbi } from './encodeAbi.ts'
import { formatAbiValue, toJsonValue } from './formatAbiValue.ts'
import { parseAbiValue } from './parseAbiValue.ts'
import { formatSignature, hashSignature, parseSignature } from './parseSignature.ts'

const parse = (text: string) => parseSignature(text, (message) => new Error(message))
const parseTypes = (types: string): readonly AbiParameter[] => parse(`f(${types})`).inputs
const parseType = (type: string): AbiType => (parseTypes(type)[0] as AbiParameter).type

describe('parseSignature', () => {
  test.each([
    ['balanceOf(address)(uint256)', 'balanceOf(address)', '(uint256)'],
    ['function balanceOf(address owner) external view returns (uint balance);', 'balanceOf(address)', '(uint256)'],
    ['name()', 'name()', undefined],
    ['f((uint a, bytes4[2] b)[] memory x, function y)()', 'f((uint256,bytes4[2])[],function)', '()'],
  ])('parses %s', (text, canonical, outputs) => {
    const signature = parse(text)
    expect(formatSignature(signature)).toBe(canonical)
    expect(signature.outputs && formatTypes(signature.outputs)).toBe(outputs)
    expect(hashSignature(signature).slice(0, 10)).toBe(toFunctionSelector(canonical))
  })

  test.each([
    '',
    'f',
    'f(',
    'f())',
    'f(uint256)(',
    'f(uint256) sometimes',
    'f(uint0)',
    'f(bytes0)',
    'f(())',
    'f(bool[0])',
    'f(bool[-1])',
  ])('rejects %j', (text) => expect(() => parse(text)).toThrow(/cannot be parsed|unknown type|without members/))
})

/** A type with a generator of its values, in the form that viem takes. */
interface Typed {
  readonly name: string
  readonly values: fc.Arbitrary<unknown>
}

const hexBytes = (size: { readonly minLength: number; readonly maxLength: number }): fc.Arbitrary<string> =>
  fc.uint8Array(size).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
const elementary: readonly Typed[] = [
  { name: 'uint256', values: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) },
  { name: 'uint64', values: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) },
  { name: 'int128', values: fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n }) },
  { name: 'bool', values: fc.boolean() },
  { name: 'address', values: hexBytes({ minLength: 20, maxLength: 20 }) },
  { name: 'bytes7', values: hexBytes({ minLength: 7, maxLength: 7 }) },
  { name: 'bytes', values: hexBytes({ minLength: 0, maxLength: 70 }) },
  { name: 'string', values: fc.string({ unit: 'grapheme', maxLength: 40 }) },
]
const typed: fc.Arbitrary<Typed> = fc.letrec<{ type: Typed }>((tie) => ({
  type: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...elementary),
    tie('type').map(({ name, values }) => ({ name: `${name}[]`, values: fc.array(values, { maxLength: 3 }) })),
    tie('type').map(({ name, values }) => ({
      name: `${name}[2]`,
      values: fc.array(values, { minLength: 2, maxLength: 2 }),
    })),
    fc.array(tie('type'), { minLength: 1, maxLength: 3 }).map((members) => ({
      name: `(${members.map(({ name }) => name).join(',')})`,
      values: fc.tuple(...members.map(({ values }) => values)),
    })),
  ),
})).type

/** viem returns checksummed addresses, and numbers for small integers. */
const normalize = (value: unknown): AbiValue => {
  if (Array.isArray(value)) return value.map(normalize)
  if (typeof value === 'number') return BigInt(value)
  return typeof value === 'string' && /^0x[\da-f]{40}$/i.test(value) ? value.toLowerCase() : (value as AbiValue)
}
const samples = fc
  .array(typed, { minLength: 1, maxLength: 4 })
  .chain((list) =>
    fc.tuple(fc.constant(list.map(({ name }) => name).join(',')), fc.tuple(...list.map(({ values }) => values))),
  )

describe('encodeAbi and decodeAbi', () => {
  test('agree with viem on any types and values', () => {
    fc.assert(
      fc.property(samples, ([types, values]) => {
        const parameters = parseTypes(types)
        const theirs = parseAbiParameters(types)
        const encoded = encodeAbiParameters(theirs as never, values as never)
        expect(`0x${encodeAbi(parameters, values as AbiValue[])}`).toBe(encoded)
        expect(decodeAbi(parameters, encoded)).toEqual(normalize(decodeAbiParameters(theirs as never, encoded)))
      }),
      { numRuns: 300 },
    )
  })

  test('never return a value for a truncated encoding', () => {
    fc.assert(
      fc.property(samples, fc.nat(), ([types, values], cut) => {
        const parameters = parseTypes(types)
        const encoded = encodeAbi(parameters, values as AbiValue[])
        if (encoded === '') return
        expect(() => decodeAbi(parameters, `0x${encoded.slice(0, (cut % (encoded.length / 64)) * 64)}`)).toThrow(
          'it is too short',
        )
      }),
    )
  })

  const word = (value: number | bigint): string => BigInt(value).toString(16).padStart(64, '0')
  test.each([
    ['uint8', word(256), 'it has an invalid uint8'],
    ['int8', word(128), 'it has an invalid int8'],
    ['bool', word(2), 'it has an invalid bool'],
    ['address', word(2n ** 160n), 'it has an invalid address'],
    ['bytes4', word(1), 'it has an invalid bytes4'],
    ['string', word(2n ** 255n), 'it is too short'],
    ['uint256[]', word(32) + word(2n ** 40n), 'it is too short'],
    // Each of the ten items is the list itself.
    ['uint256[][]', word(32) + word(10) + word(0).repeat(10), 'it is too short'],
  ])('reject an invalid %s', (types, data, message) => {
    expect(() => decodeAbi(parseTypes(types), `0x${data}`)).toThrow(message)
  })
})

describe('parseAbiValue', () => {
  const address = `0x${'aB'.repeat(20)}`
  test.each<[string, string, AbiValue]>([
    ['uint256', '12', 12n],
    ['uint8', '0xff', 255n],
    ['int8', '-128', -128n],
    ['bool', 'true', true],
    ['address', address, address.toLowerCase()],
    ['bytes', '0x', '0x'],
    ['bytes2', '0xABcd', '0xabcd'],
    ['string', 'a, "b"', 'a, "b"'],
    ['uint256[]', '[]', []],
    ['uint256[2]', '[1, 2]', [1n, 2n]],
    [
      '(uint256,(bool,string)[])',
      '(1,[(true,"a, (b)"),(false,c d)])',
      [
        1n,
        [
          [true, 'a, (b)'],
          [false, 'c d'],
        ],
      ],
    ],
    ['string[]', String.raw`["a\"b"]`, ['a"b']],
  ])('parses %s: %s', (type, text, value) => {
    expect(parseAbiValue(parseType(type), text, 'argument 1')).toEqual(value)
  })

  test.each([
    ['uint256', '-1'],
    ['uint8', '256'],
    ['uint256', '1.5'],
    ['uint256', ''],
    ['bool', '1'],
    ['address', '0x12'],
    ['bytes2', '0xab'],
    ['bytes', '0xabc'],
    ['uint256[]', '1,2'],
    ['uint256[2]', '[1]'],
    ['uint256[]', '[1,]'],
    ['uint256[][]', '[[1]'],
    ['(uint256,bool)', '(1)'],
    ['string[]', '["a]'],
  ])('rejects %s: %s', (type, text) => {
    expect(() => parseAbiValue(parseType(type), text, 'argument 1')).toThrow(
      expect.objectContaining({ exitCode: 2, message: `argument 1 is not a valid ${type}` }),
    )
  })
})

test('values are formatted without rounding', () => {
  const large = 2n ** 255n
  expect(toJsonValue([large, [true, 'a']])).toEqual([large.toString(), [true, 'a']])
  expect(formatAbiValue(large)).toBe(large.toString())
  expect(formatAbiValue([1n, 'a'])).toBe('["1","a"]')
  expect(formatAbiValue('a')).toBe('a')
})
