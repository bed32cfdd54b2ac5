import { expect, test } from 'vitest'
import { createSearch } from './createSearch.ts'

interface Named {
  readonly id: string
  readonly terms: readonly string[]
}
const items: readonly Named[] = [
  { id: 'zkevm', terms: ['Polygon zkEVM', 'polygon-zkevm', 'ETH', '1101'] },
  { id: 'opbnb', terms: ['opBNB', 'opbnb', 'BNB', '204'] },
  { id: 'bnb', terms: ['BNB Smart Chain', 'bnb', 'BNB', '56'] },
  { id: 'base', terms: ['Base Sepolia', 'base-sepolia', 'ETH', '84532'] },
  { id: 'op', terms: ['OP', 'optimism', 'ETH', '10'] },
]
const find = createSearch(items, ({ terms }) => terms)
const findIds = (text: string): readonly string[] => find(text).map(({ id }) => id)

test('without a text it finds everything, in the given order', () => {
  expect(find('')).toBe(items)
  expect(find('  ')).toBe(items)
})

test('an exact match comes before a prefix, that before the start of a word, and that before the middle of one', () => {
  expect(findIds('OP')).toEqual(['op', 'opbnb'])
  expect(findIds('zk')).toEqual(['zkevm'])
  expect(findIds('bnb')).toEqual(['opbnb', 'bnb'])
  expect(findIds('pol')).toEqual(['zkevm', 'base'])
})

test('words can come in any order', () => {
  expect(findIds('sepolia base')).toEqual(['base'])
  expect(findIds('sepolia polygon')).toEqual([])
})

test('a chain id is found in decimal and in hex', () => {
  expect(findIds('84532')).toEqual(['base'])
  expect(findIds('0x14a34')).toEqual(['base'])
  expect(findIds('0x')).toEqual([])
})
