import { expect, test } from 'vitest'
import { countReceiptLogs, parseLogs } from './parseLogs.ts'

const hash = (digit: string): string => `0x${digit.repeat(64)}`
const address = `0x${'Ab'.repeat(20)}`
const log = `{"address":"${address}","topics":["${hash('E')}"],"data":"0x01","blockHash":"${hash('A')}","removed":false}`

test('a log keeps its text; its address and topics are in lower case', () => {
  expect(parseLogs(`[${log}, ${log}]`, hash('a'))).toEqual([
    { address: address.toLowerCase(), topics: [hash('e')], text: log },
    { address: address.toLowerCase(), topics: [hash('e')], text: log },
  ])
  expect(parseLogs('[]', hash('a'))).toEqual([])
})

test.each([
  ['without removed', log.replace(',"removed":false', '')],
  ['with removed elsewhere', log.replace('{', '{"removed":null,').replace(',"removed":false', '')],
])('a log %s gets it', (_, source) => {
  expect(parseLogs(`[${source}]`, hash('a'))?.map(({ text }) => text)).toEqual([log])
})

test.each([
  ['of another block', `[${log.replace(hash('A'), hash('c'))}]`],
  ['without a block', `[${log.replace(`"blockHash":"${hash('A')}",`, '')}]`],
  ['without topics', `[${log.replace(/"topics":\[[^\]]*\],/, '')}]`],
  ['with a topic that is no text', `[${log.replace(`"${hash('E')}"`, '1')}]`],
  ['without an address', `[${log.replace(address, '')}]`],
  ['that are no list', 'null'],
])('logs %s are not the logs of the block', (_, text) => {
  expect(parseLogs(text, hash('a'))).toBeUndefined()
})

test('logs are counted if there are as many receipts as transactions', () => {
  const receipts = `[{"logs":[${log},${log}]},{"status":"0x1","logs":[]},{"logs":[${log}]}]`
  expect(countReceiptLogs(receipts, 3)).toBe(3)
  // Polygon has a receipt for the logs of its bridge, which belong to no transaction of the block.
  expect(countReceiptLogs(receipts, 2)).toBe(3)
  expect(countReceiptLogs(receipts, 4)).toBeUndefined()
  expect(countReceiptLogs('[{"status":"0x1"}]', 1)).toBeUndefined()
  expect(countReceiptLogs('null', 0)).toBeUndefined()
})
