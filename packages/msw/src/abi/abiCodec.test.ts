import fc from 'fast-check'
import { decodeAbiParameters, encodeAbiParameters, encodeEventTopics, toEventSelector, toFunctionSelector } from 'viem'
import type { AbiEvent, AbiFunction } from 'viem'
import { describe, expect, test } from 'vitest'
import type { AbiItem, AbiParameter } from './abi.ts'
import { decodeAbi, encodeAbi, encodeEvent, toSelector, toSignature } from './abiCodec.ts'

interface Case {
  readonly parameter: AbiParameter
  readonly value: unknown
}

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`
const integer = fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 32 })).chain(([signed, bytes]) => {
  const bits = BigInt(8 * bytes)
  const range = signed ? { min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n } : { min: 0n, max: 2n ** bits - 1n }
  return fc.bigInt(range).map((value): Case => ({
    parameter: { type: `${signed ? '' : 'u'}int${bits}` },
    value: bits <= 48n ? Number(value) : value,
  }))
})
const fixedBytes = fc
  .integer({ min: 1, max: 32 })
  .chain((size) =>
    fc
      .uint8Array({ minLength: size, maxLength: size })
      .map((bytes): Case => ({ parameter: { type: `bytes${size}` }, value: hex(bytes) })),
  )
const simple: fc.Arbitrary<Case> = fc.oneof(
  integer,
  fixedBytes,
  fc.boolean().map((value) => ({ parameter: { type: 'bool' }, value })),
  fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes) => ({ parameter: { type: 'address' }, value: hex(bytes) })),
  fc.uint8Array({ maxLength: 70 }).map((bytes) => ({ parameter: { type: 'bytes' }, value: hex(bytes) })),
  fc.string({ maxLength: 40, unit: 'grapheme' }).map((value) => ({ parameter: { type: 'string' }, value })),
)
const arrayCase = (inner: fc.Arbitrary<Case>, fixed: boolean): fc.Arbitrary<Case> =>
  fc.tuple(inner, fc.integer({ min: 1, max: 3 })).map(([{ parameter, value }, length]) => ({
    parameter: { ...parameter, type: `${parameter.type}[${fixed ? length : ''}]` },
    value: Array.from({ length }, () => value),
  }))
const tupleCase = (inner: fc.Arbitrary<Case>): fc.Arbitrary<Case> =>
  fc.array(inner, { minLength: 1, maxLength: 3 }).map((fields) => ({
    parameter: {
      type: 'tuple',
      components: fields.map(({ parameter }, index) => ({ ...parameter, name: `field${index}` })),
    },
    value: Object.fromEntries(fields.map(({ value }, index) => [`field${index}`, value])),
  }))
const any: fc.Arbitrary<Case> = fc.oneof(
  simple,
  arrayCase(simple, false),
  arrayCase(arrayCase(simple, true), false),
  tupleCase(simple),
  arrayCase(tupleCase(fc.oneof(simple, arrayCase(simple, false))), true),
)

/** Converts addresses to lower case: viem returns them in mixed case. */
const lowerAddresses = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, one: unknown) =>
      typeof one === 'bigint'
        ? `${one}n`
        : typeof one === 'string' && /^0x[\dA-Fa-f]{40}$/.test(one)
          ? one.toLowerCase()
          : one,
    ),
  )

test('values are encoded and decoded as by viem', () => {
  fc.assert(
    fc.property(fc.array(any, { maxLength: 4 }), (cases) => {
      const parameters = cases.map(({ parameter }) => parameter)
      const values = cases.map(({ value }) => value)
      const encoded = encodeAbi(parameters, values)
      expect(encoded).toBe(encodeAbiParameters(parameters, values))
      const decoded = decodeAbi(parameters, encoded)
      expect(lowerAddresses(decoded)).toEqual(lowerAddresses(values))
      expect(lowerAddresses(decoded)).toEqual(
        lowerAddresses([...((encoded === '0x' ? [] : decodeAbiParameters(parameters, encoded)) as unknown[])]),
      )
    }),
    { numRuns: 300 },
  )
})

test('an event has the topics that viem computes', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(simple, arrayCase(simple, false)), { minLength: 1, maxLength: 3 }), (cases) => {
      const inputs = cases.map(({ parameter }, index) => ({ ...parameter, name: `p${index}`, indexed: true }))
      const args = Object.fromEntries(cases.map(({ value }, index) => [`p${index}`, value]))
      const event = { type: 'event', name: 'Seen', inputs } satisfies AbiItem
      // viem does not encode arrays as topics.
      const plain = cases.every(({ parameter }) => !parameter.type.endsWith(']'))
      const { topics, data } = encodeEvent(event, args)
      expect(data).toBe('0x')
      expect(topics[0]).toBe(toEventSelector(event as unknown as AbiEvent))
      if (plain) expect(topics).toEqual(encodeEventTopics({ abi: [event as unknown as AbiEvent], args } as never))
    }),
  )
})

test('an indexed array is encoded as the hash of its values in sequence', async () => {
  const { concatHex, keccak256, pad } = await import('viem')
  const event = { type: 'event', name: 'Seen', inputs: [{ name: 'all', type: 'uint8[]', indexed: true }] }
  expect(encodeEvent(event, [[1, 2]]).topics[1]).toBe(keccak256(concatHex([pad('0x01'), pad('0x02')])))
})

test('signatures and selectors equal those of the compiler', () => {
  const item = {
    type: 'function',
    name: 'go',
    inputs: [
      { type: 'tuple[2][]', components: [{ type: 'uint256' }, { type: 'tuple', components: [{ type: 'bool' }] }] },
      { type: 'bytes' },
    ],
  } satisfies AbiItem
  expect(toSignature(item)).toBe('go((uint256,(bool))[2][],bytes)')
  expect(toSelector(item)).toBe(toFunctionSelector(item as unknown as AbiFunction))
})

describe('values that do not match their type are rejected', () => {
  test.each([
    ['uint8', 256],
    ['int8', -129],
    ['uint256', -1n],
    ['uint256', 'many'],
    ['uint256', true],
    ['bool', 1],
    ['address', '0x12'],
    ['address', `0X${'12'.repeat(20)}`],
    ['bytes4', '0x123456'],
    ['bytes', 'text'],
    ['string', 5],
    ['uint8[2]', [1]],
    ['uint8[]', 1],
    ['tuple', 1],
    ['function', '0x'],
  ])('%s of %s', (type, value) => {
    expect(() => encodeAbi([{ type, name: 'amount' }], [value])).toThrow(`Pass a value of the ABI type ${type}`)
  })

  test('too few values and data that is too short', () => {
    expect(() => encodeAbi([{ type: 'bool' }], [])).toThrow('The ABI expects 1 value(s), but got 0')
    expect(() => decodeAbi([{ type: 'uint256' }], '0x01')).toThrow('does not match')
    expect(() => decodeAbi([{ type: 'uint8[]' }], `0x${'00'.repeat(31)}20${'ff'.repeat(32)}`)).toThrow('does not match')
  })
})
