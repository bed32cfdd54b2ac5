import type { Hex } from '@keyrail/core'
import { parseGwei } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { createTestNode } from './createTestNode.ts'
import { checkChain } from './checkChain.ts'

const contract: Hex = `0x${'ab'.repeat(20)}`
const zeroAddress: Hex = `0x${'00'.repeat(20)}`
const fees = { maxFeePerGas: parseGwei('3'), maxPriorityFeePerGas: 1n, chainId: 31_337, gas: 100_000n }

describe('a transaction that sets code', () => {
  test.each<[what: string, authorization: { chainId?: number; nonce?: number; contractAddress?: Hex }, code: string]>([
    ['for this chain', {}, `0xef0100${contract.slice(2)}`],
    ['for every chain', { chainId: 0 }, `0xef0100${contract.slice(2)}`],
    ['for another chain, which is ignored', { chainId: 5 }, '0x6001'],
    ['with another nonce, which is ignored', { nonce: 4 }, '0x6001'],
    ['for the zero address, which removes the code', { contractAddress: zeroAddress }, '0x'],
  ])('%s', async (_, authorization, code) => {
    const { node, request } = createTestNode()
    const sender = privateKeyToAccount(node.accounts[0]!.privateKey)
    const other = privateKeyToAccount(generatePrivateKey())
    node.setCode(other.address, '0x6001')
    const signed = await other.signAuthorization({
      chainId: 31_337,
      nonce: 0,
      contractAddress: contract,
      ...authorization,
    })
    const raw = await sender.signTransaction({
      type: 'eip7702',
      nonce: 0,
      to: contract,
      authorizationList: [signed],
      ...fees,
    })
    const hash = await request('eth_sendRawTransaction', raw)
    expect(await request('eth_getCode', other.address, 'latest')).toBe(code)
    expect(await request('eth_getTransactionCount', other.address, 'latest')).toBe(code === '0x6001' ? '0x0' : '0x1')
    expect(await request('eth_getTransactionByHash', hash)).toMatchObject({
      type: '0x4',
      authorizationList: [{ nonce: expect.anything() }],
    })
    expect(await checkChain(request as never)).toEqual([hash])
  })
})

test('a transaction with blobs pays for them, and the block counts them', async () => {
  const { node, request } = createTestNode()
  const sender = privateKeyToAccount(node.accounts[0]!.privateKey)
  const before = BigInt(await request('eth_getBalance', sender.address, 'latest'))
  const blobVersionedHashes = [1, 2].map((one): Hex => `0x01${`0${one}`.repeat(31)}`)
  const raw = await sender.signTransaction({
    type: 'eip4844',
    nonce: 0,
    to: contract,
    maxFeePerBlobGas: 5n,
    blobVersionedHashes,
    ...fees,
  } as never)
  const hash = await request('eth_sendRawTransaction', raw)
  const receipt = (await request('eth_getTransactionReceipt', hash)) as {
    blobGasUsed: Hex
    blobGasPrice: Hex
    effectiveGasPrice: Hex
  }
  expect(receipt).toMatchObject({ type: '0x3', blobGasUsed: '0x40000', blobGasPrice: '0x1', status: '0x1' })
  expect(await request('eth_getBlockByNumber', 'latest', false)).toMatchObject({ blobGasUsed: '0x40000' })
  expect(await request('eth_getTransactionByHash', hash)).toMatchObject({
    blobVersionedHashes,
    maxFeePerBlobGas: '0x5',
  })
  const after = BigInt(await request('eth_getBalance', sender.address, 'latest'))
  expect(before - after).toBe(21_000n * BigInt(receipt.effectiveGasPrice) + 262_144n)
  expect(await checkChain(request as never)).toEqual([hash])
})
