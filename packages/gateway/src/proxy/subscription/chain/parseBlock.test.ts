import { chains } from '@keyrail/vectors'
import { expect, test } from 'vitest'
import { parseBlock } from './parseBlock.ts'

const blocks = chains.flatMap(({ chain, client, fixtures }) =>
  fixtures.flatMap((fixture) =>
    fixture.kind === 'block' ? [{ name: `${chain}, ${client}: ${fixture.name}`, block: fixture.result }] : [],
  ),
)
const dropped = ['transactions', 'uncles', 'withdrawals', 'size', 'totalDifficulty']

test('there are blocks of many chains', () => {
  expect(blocks.length).toBeGreaterThan(15)
})

test.each(blocks)('the header of $name is its block without the members that are not header fields', ({ block }) => {
  const parsed = parseBlock(JSON.stringify(block))
  if (!parsed) throw new Error('not parsed')
  const buffered = Object.entries(block).filter(([name]) => !dropped.includes(name))
  expect(parsed.header).toBe(JSON.stringify(Object.fromEntries(buffered)))
  expect(parsed).toMatchObject({
    number: Number(block['number']),
    hash: block['hash'],
    parentHash: block['parentHash'],
    timestamp: Number(block['timestamp']),
    logsBloom: block['logsBloom'],
    transactions: (block['transactions'] as readonly unknown[]).length,
    logs: undefined,
  })
})

const hash = (digit: string): string => `0x${digit.repeat(64)}`
const minimal = `"number":"0x1","hash":"${hash('A')}","parentHash":"${hash('B')}","timestamp":"0x2"`

test('members keep their order and spelling: no number is changed by JSON.parse', () => {
  const text = `{ "zeta":1234567890123456789012 , ${minimal},"size":"0x1","half":1.50,"nested":{"transactions":[ 1 ]},"transactions":["0x1","0x2"]}`
  expect(parseBlock(text)).toMatchObject({
    header: `{"zeta":1234567890123456789012,${minimal},"half":1.50,"nested":{"transactions":[ 1 ]}}`,
    hash: hash('a'),
    parentHash: hash('b'),
    transactions: 2,
  })
})

test('a node that does not have a block sends null', () => {
  expect(parseBlock('null')).toBeNull()
})

test.each([
  ['a pending block', `{"number":null,"hash":null,"parentHash":"${hash('b')}","timestamp":"0x2"}`],
  ['a block without a parent', `{"number":"0x1","hash":"${hash('a')}","timestamp":"0x2"}`],
  ['a short hash', `{${minimal.replace(hash('A'), '0xaa')}}`],
  ['a list', '[]'],
  ['a text', '"0x1"'],
])('%s is not a mined block', (_, text) => {
  expect(parseBlock(text)).toBeUndefined()
})
