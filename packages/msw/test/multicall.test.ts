import type { Hex } from '@keyrail/core'
import { tokenAbi } from '@keyrail/contracts'
import { Interface } from 'ethers'
import { createPublicClient, custom, encodeFunctionData, multicall3Abi } from 'viem'
import type { PublicClient } from 'viem'
import { mainnet } from 'viem/chains'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { createTestNode } from './createTestNode.ts'
import type { TestNode } from './createTestNode.ts'

const token: Hex = `0x${'1'.repeat(40)}`
const other: Hex = `0x${'2'.repeat(40)}`
const user: Hex = `0x${'3'.repeat(40)}`
const multicall3 = mainnet.contracts.multicall3.address

let testNode: TestNode
let warnings: string[]
beforeEach(() => {
  testNode = createTestNode()
  testNode.node.mockContract(token, tokenAbi, {
    balanceOf: ([owner]) => (owner === user ? 7n : 0n),
    name: () => 'Token',
  })
  warnings = []
  const spy = vi.spyOn(console, 'warn').mockImplementation((message: string) => void warnings.push(message))
  return () => spy.mockRestore()
})

const connect = (options: object = {}): PublicClient =>
  createPublicClient({
    chain: mainnet,
    transport: custom({
      request: ({ method, params = [] }: { method: string; params?: unknown[] }) =>
        testNode.request(method as never, ...(params as [])),
    }),
    ...options,
  }) as PublicClient
const methods = (): string[] => testNode.node.calls().map(({ method }) => method)

describe('Multicall3 is served from the handlers', () => {
  const contracts = [
    { address: token, abi: tokenAbi, functionName: 'balanceOf', args: [user] },
    { address: token, abi: tokenAbi, functionName: 'name' },
    { address: token, abi: tokenAbi, functionName: 'totalSupply' },
  ] as const

  test.each([
    ['multicall', {}],
    ['multicall without a deployed Multicall3', { deployless: true }],
  ])('for %s of viem, in one eth_call', async (_, options) => {
    const results = await connect().multicall({ contracts, ...options })
    expect(results).toMatchObject([
      { status: 'success', result: 7n },
      { status: 'success', result: 'Token' },
      { status: 'failure' },
    ])
    expect(String(results[2]?.error)).toContain(`No handler for totalSupply() of ${token}`)
    expect(methods()).toEqual(['eth_call'])
  })

  test.each([
    ['batch: { multicall: true }', true],
    ['batch: { multicall: { deployless: true } }', { deployless: true }],
  ])('for reads of a client with %s', async (_, multicall) => {
    const client = connect({ batch: { multicall } })
    const reads = contracts.slice(0, 2).map((contract) => client.readContract(contract as never))
    expect(await Promise.all(reads)).toEqual([7n, 'Token'])
    expect(methods()).toEqual(['eth_call'])
  })

  test('for balances of such a client', async () => {
    testNode.node.setBalance(user, 9n)
    expect(await connect({ batch: { multicall: true } }).getBalance({ address: user })).toBe(9n)
  })

  test('for aggregate and tryAggregate, as ethers and web3.js programs call them', async () => {
    const abi = new Interface([
      'function aggregate(tuple(address target, bytes callData)[] calls) payable returns (uint256 blockNumber, bytes[] returnData)',
      'function tryAggregate(bool requireSuccess, tuple(address target, bytes callData)[] calls) payable returns (tuple(bool success, bytes returnData)[])',
    ])
    const call = async (name: string, args: readonly unknown[]): Promise<unknown> =>
      abi.decodeFunctionResult(
        name,
        await testNode.request('eth_call', { to: multicall3, data: abi.encodeFunctionData(name, args) as Hex }),
      )
    const good = [token, encodeFunctionData(contracts[0])]
    const bad = [token, encodeFunctionData(contracts[2])]
    const seven = `0x${'7'.padStart(64, '0')}`
    expect(await call('aggregate', [[good, good]])).toEqual([0n, [seven, seven]])
    expect(await call('tryAggregate', [false, [good, bad]])).toMatchObject([
      [
        [true, seven],
        [false, expect.stringMatching(/^0x08c379a0/)],
      ],
    ])
    const failed = { code: 3, message: 'execution reverted: Multicall3: call failed' }
    await expect(call('aggregate', [[good, bad]])).rejects.toMatchObject(failed)
    await expect(call('tryAggregate', [true, [bad]])).rejects.toMatchObject(failed)
  })

  test('in transactions, with the logs of each call, and without what a failed call has written', async () => {
    const { node, request } = testNode
    node.mockContract(token, tokenAbi, {
      transfer([to, value], call) {
        call.setStorage(`0x${'0'.repeat(64)}`, `0x${value.toString(16).padStart(64, '0')}`)
        call.emit('Transfer', { from: call.from, to, value })
        if (value > 9n) call.revert('too much')
        return true
      },
    })
    const transfer = (value: bigint): object => ({
      target: token,
      allowFailure: true,
      callData: encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [user, value] }),
    })
    const data = encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      args: [[transfer(5n), transfer(10n)] as never],
    })
    const from = node.accounts[0]!.address
    const hash = await request('eth_sendTransaction', { from, to: multicall3, data, gas: '0x493e0' })
    expect(await request('eth_getTransactionReceipt', hash)).toMatchObject({
      status: '0x1',
      logs: [{ address: token.toLowerCase() }],
    })
    expect(BigInt(await request('eth_getStorageAt', token, '0x0', 'latest'))).toBe(5n)
  })

  test('unless a test mocks a contract of its own at that address', async () => {
    testNode.node.mockContract(multicall3, () => '0x01')
    expect(await testNode.request('eth_call', { to: multicall3, data: '0x82ad56cb' })).toBe('0x01')
  })
})

describe('a call of a contract that is not mocked', () => {
  const read = (functionName: string, args: readonly unknown[] = []): Promise<string> =>
    connect()
      .readContract({ address: other, abi: tokenAbi, functionName, args } as never)
      .then(String, String)

  test('fails with the names of the function and the contract, and not with empty data', async () => {
    const message = `No handler for balanceOf(address) of ${other}: no contract is mocked at this address. Add one with node.mockContract`
    expect(await read('balanceOf', [user])).toContain(message)
    expect(warnings).toEqual([`[keyrail/msw] ${message}`])
  })

  test('has the name from the ABI of another contract, or else the selector', async () => {
    const { node, request } = testNode
    const abi = [{ type: 'function', name: 'harvest', inputs: [{ type: 'uint256' }], outputs: [] }] as const
    const data = encodeFunctionData({ abi, functionName: 'harvest', args: [1n] } as never)
    const call = (): Promise<unknown> => request('eth_call', { to: other, data }).catch((error: Error) => error.message)
    expect(await call()).toContain(`No handler for selector ${data.slice(0, 10)} of ${other}`)
    node.mockContract(user, abi, {})
    expect(await call()).toContain(`No handler for harvest(uint256) of ${other}`)
  })

  test('does not include payments, also not those with a note', async () => {
    const { node, request } = testNode
    const from = node.accounts[0]!.address
    for (const data of ['0x', '0x6869', '0x68656c6c6f20776f726c64'] as const)
      expect(await request('eth_call', { from, to: user, value: '0x1', data })).toBe('0x')
    expect(warnings).toEqual([])
  })
})
