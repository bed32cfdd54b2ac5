import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createEthersShop } from './dapp/ethersShop.ts'
import { createViemShop } from './dapp/viemShop.ts'
import { contract, endpoint, node, shop, token, user } from './node.ts'

describe.each([
  ['viem', createViemShop],
  ['ethers', createEthersShop],
])('the shop with %s', (_, createShop) => {
  let dapp: ReturnType<typeof createViemShop> & { close?: () => void }
  beforeEach(() => {
    dapp = createShop({ ...endpoint, retry: { baseMs: 1 } }, token, user.privateKey)
  })
  afterEach(() => dapp.close?.())

  test('shows the balance, and makes a payment', async () => {
    expect(await dapp.balance()).toBe('50 tokens')
    expect(await dapp.pay(shop, 7n)).toBe('Paid in block 1.')
    expect(await dapp.paid()).toEqual([7n])
  })

  test('retries throttled calls without an error', async () => {
    node.fail('throttled', { times: 2 })
    expect(await dapp.balance()).toBe('50 tokens')
    expect(node.calls('eth_call').map(({ outcome }) => outcome)).toEqual(['fault', 'fault', 'result'])
  })

  test('closes the shop when the quota is exhausted', async () => {
    node.fail('quota', { times: Infinity })
    expect(await dapp.balance()).toBe('The shop is closed until tomorrow.')
  })

  test('reports an insufficient balance', async () => {
    expect(await dapp.pay(shop, 51n)).toBe('You have 50 tokens.')
  })

  test('removes a payment after a reorganization, until it is mined again', async () => {
    await dapp.pay(shop, 7n)
    contract.emit('Transfer', { from: shop, to: user.address, value: 9n })
    node.reorg(2)
    expect(await dapp.paid()).toEqual([])
    node.mine()
    expect(new Set(await dapp.paid())).toEqual(new Set([7n, 9n]))
  })
})
