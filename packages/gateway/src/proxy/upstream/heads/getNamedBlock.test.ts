import { expect, test } from 'vitest'
import { methods } from '../../../lib/methods.ts'
import { getStateBlock } from '../health/getStateBlock.ts'
import { getNamedBlock, isAboveHead } from './getNamedBlock.ts'

const hash = `"0x${'ab'.repeat(32)}"`
const toParams = (at: number, source: string): string =>
  `[${[...Array.from({ length: at }, () => '{"nonce":"0xffff"}'), source, '"0xffff"'].join(',')}]`

const naming = [...methods].flatMap(([method, { block, range }]) => {
  const at = block ?? range
  return at === undefined ? [] : [[method, at, range !== undefined] as const]
})

test.each(naming)('%s names its block by the param at %i', (method, at, isRange) => {
  const toSource = (block: string): string => (!isRange ? block : `{"fromBlock":${block},"toBlock":"0x1"}`)
  expect(getNamedBlock(method, toParams(at, toSource('"0x10"')))).toEqual({ number: 16, hasTag: false })
  if (isRange) return
  expect(getNamedBlock(method, toParams(at, '{"blockNumber":"0x10","requireCanonical":true}'))).toMatchObject({
    number: 16,
  })
  expect(getNamedBlock(method, toParams(at, `{"blockHash":${hash},"requireCanonical":true}`))).toBe('hash')
  expect(getNamedBlock(method, toParams(at, hash))).toBe('hash')
  expect(getNamedBlock(method, toParams(at, '"safe"'))).toBeUndefined()
})

test.each(['0x10', '0x0010', `0x${'10'.padStart(32, '0')}`])('a number may have leading zeros: %s', (block) => {
  expect(getNamedBlock('eth_getLogs', `[{"fromBlock":"${block}","toBlock":"latest"}]`)).toEqual({
    number: 16,
    hasTag: true,
  })
})

test.each([
  ['eth_getAccount'],
  ['eth_getAccountInfo'],
  ['eth_getStorageValues'],
  ['eth_estimateGas'],
  ['debug_traceCall'],
])('%s reads the state of its block', (method) => {
  expect(getStateBlock(method, '[{},"0x10"]')).toBe(16)
})

test('a call is above the head of a node if any block that it names is', () => {
  const call = { method: 'trace_filter', params: '[{"fromBlock":"0x1","toBlock":"0x11"}]' }
  expect([15, 16, 17].map((head) => isAboveHead(call, head))).toEqual([true, true, false])
  expect(isAboveHead(call, undefined)).toBe(false)
})
