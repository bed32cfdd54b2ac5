import { describe, expect, test } from 'vitest'
import {
  describeUnknownMethod,
  getDefaultWeight,
  getHighestWeight,
  isWeightedMethod,
  normalizeWeights,
} from './weights.ts'

describe('a method', () => {
  test.each(['eth_getLogs', 'debug_traceTransaction', 'trace_block', 'net_version'])('%s can have a weight', (name) => {
    expect(isWeightedMethod(name)).toBe(true)
  })

  test.each(['eth_getLog', 'eth_sendTransaction', 'anvil_mine', '__proto__', ''])('%s cannot', (name) => {
    expect(isWeightedMethod(name)).toBe(false)
  })
})

describe('describeUnknownMethod', () => {
  test.each([
    ['eth_getLog', 'eth_getLogs'],
    ['eth_getlogs', 'eth_getLogs'],
    // Core shows no names of more than 24 characters.
    ['eth_getTransactionByBlockHashAndIndx', 'eth_getTransactionByBlockHashAndIndex'],
    ['debug_traceTransactions', 'debug_traceTransaction'],
  ])('suggests the nearest name for %s', (name, nearest) => {
    expect(describeUnknownMethod(name)).toBe(`has an unknown method "${name}": did you mean "${nearest}"?`)
  })

  test('shows a name that no method resembles', () => {
    expect(describeUnknownMethod('wallet_watchAsset')).toBe(
      'has an unknown method "wallet_watchAsset": use full names, such as "eth_getLogs"',
    )
  })

  test.each(['https://user:hunter22@node.example', `kr_a${'x1'.repeat(20)}`])('hides %s', (name) => {
    expect(describeUnknownMethod(name)).toBe(
      'has an unknown method (name hidden): use full names, such as "eth_getLogs"',
    )
  })
})

test('the highest weight is 1 without weights', () => {
  expect([getHighestWeight({}), getHighestWeight({ eth_call: 26, eth_getLogs: 75 })]).toEqual([1, 75])
})

test('normalizeWeights removes weights of 1 and puts the highest first', () => {
  expect(Object.entries(normalizeWeights({ eth_call: 26, eth_chainId: 1, eth_getLogs: 75 }))).toEqual([
    ['eth_getLogs', 75],
    ['eth_call', 26],
  ])
})

test('notifications count as nothing unless they have a weight, also of 1', () => {
  expect(['eth_subscription', 'eth_subscribe'].map(getDefaultWeight)).toEqual([0, 1])
  expect(normalizeWeights({ eth_subscription: 1, eth_subscribe: 1 })).toEqual({ eth_subscription: 1 })
})
