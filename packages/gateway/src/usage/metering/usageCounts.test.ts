import { expect, test } from 'vitest'
import {
  addPacked,
  addUse,
  createUsageCounts,
  getTotal,
  packCounts,
  packUse,
  unpackCounts,
  unpackUse,
} from './usageCounts.ts'

test('packed counts add up', () => {
  const counts = createUsageCounts()
  addPacked(counts, [
    ['eth_call', 'base-mainnet', 'succeeded', 3, 10, 2, 11, 1],
    ['__proto__', 'sepolia', 'rate_limited', 1, 0, 1],
  ])
  addPacked(counts, [['eth_call', 'base-mainnet', 'succeeded', 2, 11, 2]])
  expect(getTotal(counts)).toBe(6)
  expect(unpackCounts(packCounts(counts))).toEqual([
    ['eth_call', 'base-mainnet', 'succeeded', 5, 10, 2, 11, 3],
    ['__proto__', 'sepolia', 'rate_limited', 1, 0, 1],
  ])
  expect(unpackCounts(packCounts(createUsageCounts()))).toEqual([])
})

test('units and bytes add up, apart from the counts', () => {
  const counts = createUsageCounts()
  addPacked(counts, [
    ['eth_call', 'sepolia', 'succeeded', 3, 10, 3],
    ['eth_call', 'sepolia', 'rate_limited', 1],
  ])
  const text = '[["eth_call","sepolia","succeeded",30,100]]'
  addUse(counts, unpackUse(text) ?? [])
  expect(packUse(counts)).toBe(text)
  addUse(counts, [['eth_call', 'sepolia', 'succeeded', 10, 5]])
  expect(unpackUse(packUse(counts))).toEqual([['eth_call', 'sepolia', 'succeeded', 40, 105]])
  // Versions that have no units read this.
  expect(packCounts(counts)).toBe('[["eth_call","sepolia","succeeded",3,10,3],["eth_call","sepolia","rate_limited",1]]')
})

test.each(['', 'null', '[["eth_call","sepolia","succeeded",1]]', '[["eth_call","sepolia","succeeded",1,-2]]'])(
  '%j is not packed units and bytes',
  (text) => {
    expect(unpackUse(text)).toBeUndefined()
  },
)

test('counts from before networks had any name are those of testnet and mainnet', () => {
  expect(unpackCounts('[["eth_call",0,"succeeded",1,2,1],["eth_call",1,"succeeded",1]]')).toEqual([
    ['eth_call', 'testnet', 'succeeded', 1, 2, 1],
    ['eth_call', 'mainnet', 'succeeded', 1],
  ])
})

test.each([
  '',
  '[',
  'null',
  '{}',
  '[null]',
  '[{}]',
  '["eth_call"]',
  '[["eth_call",0]]',
  '[["eth_call",0,"succeeded"]]',
  '[["eth_call",0,"succeeded","1"]]',
  '[["eth_call",0,"succeeded",1.5]]',
  '[["eth_call",0,"succeeded",-1]]',
  '[["eth_call",0,"succeeded",1,2]]',
  '[["eth_call",0,"succeeded",1,2,null]]',
  '[["eth_call",2,"succeeded",1]]',
  '[["eth_call",0,1,1]]',
  '[[1,0,"succeeded",1]]',
  '[["eth_call",0,"succeeded",1],7]',
  '[["eth_call",0,"succeeded",[1,2,3]]]',
])('%j is not packed counts', (text) => {
  expect(unpackCounts(text)).toBeUndefined()
})
