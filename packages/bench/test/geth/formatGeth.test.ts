import { expect, test } from 'vitest'
import { parseRequests } from './conversations.ts'
import { formatGeth } from './formatGeth.ts'

test('only the requests of a conversation are read', () => {
  expect(parseRequests('// Gets a block.\n>> {"id":1}\n<< {"result":2}\n>> {"id":2}\n<< {}\n')).toEqual([
    '{"id":1}',
    '{"id":2}',
  ])
})

test('the file counts the same responses of each round, and explains the others', () => {
  const same = { name: 'eth_chainId/a', direct: '{"result":"0x1"}', behind: '{"result":"0x1"}' }
  const text = formatGeth(
    [
      { ...same, round: 1 },
      { ...same, round: 2 },
      { name: 'testing_build/b', round: 1, direct: '{"result":1}', behind: '{"error":{"message":"not available"}}' },
      { name: 'eth_call/c', round: 2, direct: '{"result":1}', behind: '{"result":2}' },
    ],
    'By hand.',
  )
  expect(text).toMatch(/\| first time +\| +2 \| +1 \|/)
  expect(text).toMatch(/\| second time +\| +2 \| +1 \|/)
  expect(text).toMatch(/\| testing_build\/b \| first +\| not available +\| the service does not offer/)
  expect(text).toMatch(/\| eth_call\/c +\| second +\| another result +\| not explained/)
})
