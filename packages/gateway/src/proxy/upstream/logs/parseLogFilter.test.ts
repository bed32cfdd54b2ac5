import { expect, test } from 'vitest'
import { parseLogFilter } from './parseLogFilter.ts'

test.each([
  ['[{"fromBlock":"0x10","toBlock":"0xff"}]', 16, 255, '[{"fromBlock":"0x1","toBlock":"0x2"}]'],
  [
    ' [ {"address" : ["0xA"], "fromBlock":"0x0","topics":[null, ["0x1"]],"toBlock":"latest" } ] ',
    0,
    'latest',
    ' [ {"address":["0xA"],"topics":[null, ["0x1"]],"fromBlock":"0x1","toBlock":"0x2"} ] ',
  ],
  ['[{"fromBlock":"finalized","toBlock":"safe"}]', 'finalized', 'safe', '[{"fromBlock":"0x1","toBlock":"0x2"}]'],
  ['[{"fromBlock":"earliest"},1]', 'earliest', 'latest', '[{"fromBlock":"0x1","toBlock":"0x2"},1]'],
  ['[{"toBlock":"0x5"}]', 'latest', 5, '[{"fromBlock":"0x1","toBlock":"0x2"}]'],
])('%s is a range that can be split', (params, from, to, part) => {
  const filter = parseLogFilter(params)
  expect(filter).toMatchObject({ from, to })
  expect(filter?.toParams({ from: 1, to: 2 })).toBe(part)
})

test.each([
  ['without a filter', '[]'],
  ['without a list', '{"fromBlock":"0x1","toBlock":"0x2"}'],
  ['for one block', '[{"fromBlock":"0x5","toBlock":"0x05"}]'],
  ['for the latest block', '[{}]'],
  ['by block hash', '[{"blockHash":"0x12"}]'],
  ['to the pending block', '[{"fromBlock":"0x1","toBlock":"pending"}]'],
  ['with a number', '[{"fromBlock":1,"toBlock":"0x2"}]'],
  ['with null', '[{"fromBlock":null,"toBlock":"0x2"}]'],
  ['with a repeated name', '[{"fromBlock":"0x1","fromBlock":"0x2","toBlock":"0x3"}]'],
  ['with an escape', '[{"fromBlock":"0x1","\\u0074oBlock":"0x3"}]'],
  ['with a name that Go reads as the range', '[{"fromBlock":"0x1","TOBLOCK":"0x3"}]'],
])('a filter %s is not split', (_, params) => {
  expect(parseLogFilter(params)).toBeUndefined()
})
