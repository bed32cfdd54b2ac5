import { expect, test } from 'vitest'
import { parseLogQuery } from './parseLogQuery.ts'

const [one, two] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`] as const
const [x, y] = [`0x${'0c'.repeat(32)}`, `0x${'0d'.repeat(32)}`] as const
const range = { fromBlock: '0x1', toBlock: '0xA' }
const parse = (filter: unknown, ...more: readonly unknown[]) => parseLogQuery(JSON.stringify([filter, ...more]))

test.each([
  [{}, { addresses: ['*'], topics: [] }],
  [{ address: one.toUpperCase().replace('0X', '0x') }, { addresses: [one], topics: [] }],
  [{ address: [two, one, two] }, { addresses: [one, two], topics: [] }],
  [{ topics: [x] }, { addresses: ['*'], topics: [[x]] }],
  [{ topics: [null, [y, x], null] }, { addresses: ['*'], topics: [null, [x, y], null] }],
])('%j is read in one form', (filter, expected) => {
  expect(parse({ ...filter, ...range })?.query).toEqual({ ...expected, first: 1, last: 10 })
})

test.each([
  ['a tag', { ...range, toBlock: 'latest' }],
  ['no end', { fromBlock: '0x1' }],
  ['an end before its start', { fromBlock: '0x2', toBlock: '0x1' }],
  ['a block hash', { ...range, blockHash: x }],
  ['a name in another case', { ...range, Address: one }],
  ['an unknown member', { ...range, limit: 5 }],
  ['no addresses in its list', { ...range, address: [] }],
  ['null as its address', { ...range, address: null }],
  ['a short address', { ...range, address: '0x01' }],
  ['null as its topics', { ...range, topics: null }],
  ['an empty list of topics at a position', { ...range, topics: [[]] }],
  ['null in a list of topics', { ...range, topics: [[x, null]] }],
  ['a short topic', { ...range, topics: ['0x01'] }],
  ['five topics', { ...range, topics: [null, null, null, null, x] }],
])('a filter with %s is left to nodes', (_, filter) => {
  expect(parse(filter)).toBeUndefined()
})

test('params with more than a filter, and filters with repeated or escaped names, are left to nodes', () => {
  expect(parse(range, 'more')).toBeUndefined()
  expect(parseLogQuery('[{"fromBlock":"0x1","toBlock":"0x2","toBlock":"0x3"}]')).toBeUndefined()
  expect(parseLogQuery(String.raw`[{"fromBlock":"0x1","to\u0042lock":"0x2"}]`)).toBeUndefined()
  expect(parseLogQuery('[]')).toBeUndefined()
  expect(parseLogQuery('')).toBeUndefined()
})

test('the params for what is missing have the range and the addresses of that, and everything else as the caller spelled it', () => {
  const spelled = one.replace('a', 'A')
  const parsed = parse({ address: [spelled, two], topics: [[x.replace('c', 'C')], null], ...range })
  const rest = `"topics":[["${x.replace('c', 'C')}"],null],"fromBlock":"0x3","toBlock":"0x4"`
  expect(parsed?.toParams({ first: 3, last: 4, addresses: [one, two] })).toBe(
    `[{"address":["${spelled}","${two}"],${rest}}]`,
  )
  expect(parsed?.toParams({ first: 3, last: 4, addresses: [two] })).toBe(`[{"address":["${two}"],${rest}}]`)
  expect(parse(range)?.toParams({ first: 3, last: 4, addresses: ['*'] })).toBe('[{"fromBlock":"0x3","toBlock":"0x4"}]')
})
