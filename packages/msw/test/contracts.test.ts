import type { Hex } from '@keyrail/core'
import { revertsAbi, tokenAbi } from '@keyrail/contracts'
import { Interface } from 'ethers'
import { decodeErrorResult, decodeEventLog, decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { createTestNode, toWord } from './createTestNode.ts'
import type { TestNode } from './createTestNode.ts'

const address: Hex = '0x00000000000000000000000000000000000000aA'
const user: Hex = '0x00000000000000000000000000000000000000bb'
let testNode: TestNode
beforeEach(() => {
  testNode = createTestNode()
})
const getFailure = (call: Promise<unknown>): Promise<{ code: number; message: string; data?: Hex }> =>
  call.then(
    (value) => expect.fail(`result ${String(value)}`),
    (error: unknown) => error as { code: number; message: string; data?: Hex },
  )

describe('a contract with an ABI', () => {
  test('decodes arguments and encodes results', async () => {
    const { node, request } = testNode
    node.mockContract(address, tokenAbi, {
      balanceOf: ([owner]) => (owner === user ? 7 : 0n),
      name: () => 'Tok\u00e9n',
    })
    const call = async (functionName: 'balanceOf' | 'name', args: readonly unknown[]): Promise<unknown> => {
      const data = encodeFunctionData({ abi: tokenAbi, functionName, args } as never)
      return decodeFunctionResult({
        abi: tokenAbi,
        functionName,
        data: await request('eth_call', { to: address, data }, 'latest'),
      } as never)
    }
    expect(await call('balanceOf', [user])).toBe(7n)
    expect(await call('balanceOf', [address.toLowerCase()])).toBe(0n)
    expect(await call('name', [])).toBe('Tok\u00e9n')
    expect(await request('eth_getCode', address, 'latest')).not.toBe('0x')
  })

  test('reverts with an error of its ABI, a reason, a panic, or nothing', async () => {
    const { node, request } = testNode
    node.mockContract(address, revertsAbi, {
      custom: (args, call) => call.revert('Unauthorized', args),
      customEmpty: (_, call) => call.revert('Closed'),
      reason: (_, call) => call.revert('too little'),
      asserts: (_, call) => call.panic(0x12),
      bare: (_, call) => call.revert(),
    })
    const fail = async (functionName: string, args: readonly unknown[]): Promise<unknown> => {
      const data = encodeFunctionData({ abi: revertsAbi, functionName, args } as never)
      const failure = await getFailure(request('eth_call', { to: address, data }))
      expect(failure).toEqual(expect.objectContaining({ code: 3 }))
      expect(await getFailure(request('eth_estimateGas', { to: address, data }))).toMatchObject({ data: failure.data })
      if (failure.data === '0x') return failure.message
      const decoded = decodeErrorResult({ abi: revertsAbi, data: failure.data as Hex })
      return [failure.message, decoded.errorName, ...(decoded.args ?? [])]
    }
    const level = 2n ** 255n
    expect(await fail('custom', [user, level, 'no'])).toEqual([
      'execution reverted',
      'Unauthorized',
      expect.stringMatching(/bb$/i),
      level,
      'no',
    ])
    expect(await fail('customEmpty', [])).toEqual(['execution reverted', 'Closed'])
    expect(await fail('reason', [1n])).toEqual(['execution reverted: too little', 'Error', 'too little'])
    expect(await fail('asserts', [1n])).toEqual(['execution reverted', 'Panic', 0x12n])
    expect(await fail('bare', [])).toBe('execution reverted')
  })

  test('emits logs in transactions, but not if it reverts', async () => {
    const { node, request } = testNode
    const from = node.accounts[0]!.address
    const token = node.mockContract(address, tokenAbi, {
      transfer([to, value], call) {
        call.setStorage(toWord(0), toWord(Number(value)))
        call.emit('Transfer', { from: call.from, to, value })
        if (value > 9n) call.revert('too much')
        return true
      },
    })
    const send = async (value: bigint): Promise<{ status: Hex; logs: { topics: never; data: Hex }[] }> => {
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [user, value] })
      const hash = await request('eth_sendTransaction', { from, to: address, data, gas: '0x30d40' })
      return request('eth_getTransactionReceipt', hash)
    }
    const good = await send(5n)
    expect(good.status).toBe('0x1')
    const [log] = good.logs
    expect(decodeEventLog({ abi: tokenAbi, topics: log!.topics, data: log!.data })).toMatchObject({
      eventName: 'Transfer',
      args: { value: 5n },
    })
    expect(await request('eth_getStorageAt', address, toWord(0), 'latest')).toBe(toWord(5))
    expect(await send(10n)).toMatchObject({ status: '0x0', logs: [] })
    expect(await request('eth_getStorageAt', address, toWord(0), 'latest')).toBe(toWord(5))
    // A call does not change the state.
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [user, 3n] })
    await request('eth_call', { from, to: address, data })
    expect(await request('eth_getStorageAt', address, toWord(0), 'latest')).toBe(toWord(5))
    const hash = token.emit('Transfer', [from, user, 8])
    expect(((await request('eth_getTransactionReceipt', hash)) as { logs: unknown[] }).logs).toHaveLength(1)
  })

  test('can be defined by an Interface of ethers', async () => {
    const abi = new Interface([
      'function both(uint256 one, tuple(bool yes, string[] texts) two) returns (uint256, string)',
      'event Seen(uint256 indexed one, string two)',
    ])
    const contract = testNode.node.mockContract(address, abi, {
      both: ([one, two]) => [(one as bigint) + 1n, (two as { texts: string[] }).texts.join('+')],
    })
    const data = abi.encodeFunctionData('both', [41n, [true, ['a', 'b']]]) as Hex
    expect([...abi.decodeFunctionResult('both', await testNode.request('eth_call', { to: address, data }))]).toEqual([
      42n,
      'a+b',
    ])
    const hash = contract.emit('Seen', { one: 5, two: 'x' })
    const { logs } = (await testNode.request('eth_getTransactionReceipt', hash)) as {
      logs: { topics: string[]; data: string }[]
    }
    expect([...abi.parseLog(logs[0]!)!.args]).toEqual([5n, 'x'])
  })

  test('distinguishes overloaded functions by their signatures', async () => {
    const abi = parseAbi(['function go(uint256) view returns (uint256)', 'function go(bool) view returns (uint256)'])
    expect(() => testNode.node.mockContract(address, abi, { go: () => 1n })).toThrow('go(uint256) or go(bool)')
    testNode.node.mockContract(address, abi, { 'go(bool)': ([yes]) => (yes === true ? 1n : 2n) })
    const data = encodeFunctionData({ abi, functionName: 'go', args: [true] })
    expect(BigInt(await testNode.request('eth_call', { to: address, data }))).toBe(1n)
  })

  test('rejects functions and events that the ABI does not have', async () => {
    const { node } = testNode
    expect(() => node.mockContract(address, tokenAbi, { gone: () => 1 } as never)).toThrow(
      'The ABI has no function gone',
    )
    expect(() => node.mockContract('0x12', tokenAbi, {})).toThrow('The address is "0x12". Use 0x and 40 hex digits')
    expect(() => node.mockContract(address, tokenAbi, {}).emit('Gone' as never)).toThrow(
      'The ABI has no event Gone. It has ',
    )
    expect(() => node.mockContract(address, tokenAbi, {}).emit('Transfer', [user] as never)).toThrow(
      'has 3 value(s), but got 1',
    )
    expect(() => node.emit({ address: user, topics: ['0x12'] })).toThrow(
      'A topic of the log is "0x12". Use 0x and 64 hex digits',
    )
    expect(() => node.emit({ address: user, data: '0x1' })).toThrow('The data of the log is "0x1"')
  })
})

test('an estimate leaves a margin for work that a handler does only in transactions', async () => {
  const { node, request } = testNode
  const from = node.accounts[0]!.address
  node.mockContract(address, (call) => {
    if (call.isTransaction) for (let slot = 0; slot < 2; slot++) call.setStorage(toWord(slot), toWord(1))
  })
  const gas = await request('eth_estimateGas', { from, to: address })
  const hash = await request('eth_sendTransaction', { from, to: address, gas })
  expect(await request('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
  expect(await getFailure(request('eth_estimateGas', { from, to: address, gas: '0x5209' }))).toMatchObject({
    message: 'gas required exceeds allowance (21001)',
  })
})

describe('a handler that throws', () => {
  test('makes a call fail with an internal error that has its message', async () => {
    testNode.node.mockContract(address, tokenAbi, { name: () => 5 as never })
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'name' })
    expect(await getFailure(testNode.request('eth_call', { to: address, data }))).toMatchObject({
      code: -32_603,
      message: expect.stringContaining('A value is 5. Pass a value of the ABI type string'),
    })
  })

  test('reverts a transaction, and prints a warning', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { node, request } = testNode
    node.mockContract(address, () => {
      throw new TypeError('of my own')
    })
    const from = node.accounts[0]!.address
    const hash = await request('eth_sendTransaction', { from, to: address, gas: '0x30d40' })
    expect(await request('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x0' })
    expect(warn.mock.calls.flat().join()).toContain('of my own')
    warn.mockRestore()
  })
})

describe('a contract without an ABI', () => {
  test('has one handler, or one for each selector', async () => {
    const { node, request } = testNode
    node.mockContract(address, (call) => (call.data === '0x1234' ? `0x${call.from.slice(2)}` : '0x'))
    expect(await request('eth_call', { from: user, to: address, data: '0x1234' })).toBe(user)
    node.mockContract(address, { '0x70a08231': ({ block }) => toWord(block.number), '0x06fdde03': () => {} })
    node.mine(3)
    expect(await request('eth_call', { to: address, input: '0x70a08231' })).toBe(toWord(3))
    expect(await request('eth_call', { to: address, input: '0x06fdde03' })).toBe('0x')
    expect(await getFailure(request('eth_call', { to: address, input: '0x12345678' }))).toMatchObject({ code: 3 })
    node.mockContract(address, () => 'text' as Hex)
    expect(await getFailure(request('eth_call', { to: address }))).toMatchObject({ code: -32_603 })
  })
})
