import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ethersShop } from './dapp/ethersShop.ts'
import { viemShop } from './dapp/viemShop.ts'
import { address, contract, node, shop, token, user } from './node.ts'

describe.each([
  ['viem', viemShop],
  ['ethers', ethersShop],
])('the shop by %s', (_, openShop) => {
  let dapp: ReturnType<typeof viemShop> & { close?: () => void }
  beforeEach(() => {
    dapp = openShop({ ...address, retry: { baseMs: 1 } }, token, user.privateKey)
  })
  afterEach(() => dapp.close?.())

  test('the balance is shown, and a payment arrives', async () => {
    expect(await dapp.balance()).toBe('50 tokens')
    expect(await dapp.pay(shop, 7n)).toBe('Paid in block 1.')
    expect(await dapp.paid()).toEqual([7n])
  })

  test('a throttle is waited for, and nobody sees it', async () => {
    node.fail('throttled', { times: 2 })
    expect(await dapp.balance()).toBe('50 tokens')
    expect(node.calls('eth_call').map(({ outcome }) => outcome)).toEqual(['fault', 'fault', 'result'])
  })

  test('a quota that is used up closes the shop', async () => {
    node.fail('quota', { times: Infinity })
    expect(await dapp.balance()).toBe('The shop is closed until tomorrow.')
  })

  test('who has too little is told so', async () => {
    expect(await dapp.pay(shop, 51n)).toBe('You have 50 tokens.')
  })

  test('a payment that a reorganization takes away is gone, and comes again', async () => {
    await dapp.pay(shop, 7n)
    contract.emit('Transfer', { from: shop, to: user.address, value: 9n })
    node.reorg(2)
    expect(await dapp.paid()).toEqual([])
    node.mine()
    expect(new Set(await dapp.paid())).toEqual(new Set([7n, 9n]))
  })
})
