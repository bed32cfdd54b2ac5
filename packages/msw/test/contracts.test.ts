import type { Hex } from '@keyrail/core'
import { revertsAbi, tokenAbi } from '@keyrail/contracts'
import { Interface } from 'ethers'
import { decodeErrorResult, decodeEventLog, decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { askNode, wordOf } from './askNode.ts'
import type { AskedNode } from './askNode.ts'

const address: Hex = '0x00000000000000000000000000000000000000aA'
const who: Hex = '0x00000000000000000000000000000000000000bb'
let asked: AskedNode
beforeEach(() => {
  asked = askNode()
})
const failureOf = (call: Promise<unknown>): Promise<{ code: number; message: string; data?: Hex }> =>
  call.then(
    (value) => expect.fail(`answered ${String(value)}`),
    (error: unknown) => error as { code: number; message: string; data?: Hex },
  )

describe('a contract by its ABI', () => {
  test('answers its functions, with values in and out', async () => {
    const { node, ask } = asked
    node.onCall(address, tokenAbi, { balanceOf: ([owner]) => (owner === who ? 7 : 0n), name: () => 'Tok\u00e9n' })
    const call = async (functionName: 'balanceOf' | 'name', args: readonly unknown[]): Promise<unknown> => {
      const data = encodeFunctionData({ abi: tokenAbi, functionName, args } as never)
      return decodeFunctionResult({
        abi: tokenAbi,
        functionName,
        data: await ask('eth_call', { to: address, data }, 'latest'),
      } as never)
    }
    expect(await call('balanceOf', [who])).toBe(7n)
    expect(await call('balanceOf', [address.toLowerCase()])).toBe(0n)
    expect(await call('name', [])).toBe('Tok\u00e9n')
    expect(await ask('eth_getCode', address, 'latest')).not.toBe('0x')
  })

  test('reverts with an error of its ABI, a reason, a panic, or nothing', async () => {
    const { node, ask } = asked
    node.onCall(address, revertsAbi, {
      custom: (args, call) => call.revert('Unauthorized', args),
      customEmpty: (_, call) => call.revert('Closed'),
      reason: (_, call) => call.revert('too little'),
      asserts: (_, call) => call.panic(0x12),
      bare: (_, call) => call.revert(),
    })
    const fail = async (functionName: string, args: readonly unknown[]): Promise<unknown> => {
      const data = encodeFunctionData({ abi: revertsAbi, functionName, args } as never)
      const failure = await failureOf(ask('eth_call', { to: address, data }))
      expect(failure).toEqual(expect.objectContaining({ code: 3 }))
      expect(await failureOf(ask('eth_estimateGas', { to: address, data }))).toMatchObject({ data: failure.data })
      if (failure.data === '0x') return failure.message
      const decoded = decodeErrorResult({ abi: revertsAbi, data: failure.data as Hex })
      return [failure.message, decoded.errorName, ...(decoded.args ?? [])]
    }
    const level = 2n ** 255n
    expect(await fail('custom', [who, level, 'no'])).toEqual([
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

  test('logs in transactions, and forgets what it logged where it reverts', async () => {
    const { node, ask } = asked
    const from = node.accounts[0]!.address
    const token = node.onCall(address, tokenAbi, {
      transfer([to, value], call) {
        call.setStorage(wordOf(0), wordOf(Number(value)))
        call.emit('Transfer', { from: call.from, to, value })
        if (value > 9n) call.revert('too much')
        return true
      },
    })
    const send = async (value: bigint): Promise<{ status: Hex; logs: { topics: never; data: Hex }[] }> => {
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [who, value] })
      const hash = await ask('eth_sendTransaction', { from, to: address, data, gas: '0x30d40' })
      return ask('eth_getTransactionReceipt', hash)
    }
    const good = await send(5n)
    expect(good.status).toBe('0x1')
    const [log] = good.logs
    expect(decodeEventLog({ abi: tokenAbi, topics: log!.topics, data: log!.data })).toMatchObject({
      eventName: 'Transfer',
      args: { value: 5n },
    })
    expect(await ask('eth_getStorageAt', address, wordOf(0), 'latest')).toBe(wordOf(5))
    expect(await send(10n)).toMatchObject({ status: '0x0', logs: [] })
    expect(await ask('eth_getStorageAt', address, wordOf(0), 'latest')).toBe(wordOf(5))
    // A call leaves nothing behind.
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [who, 3n] })
    await ask('eth_call', { from, to: address, data })
    expect(await ask('eth_getStorageAt', address, wordOf(0), 'latest')).toBe(wordOf(5))
    const hash = token.emit('Transfer', [from, who, 8])
    expect(((await ask('eth_getTransactionReceipt', hash)) as { logs: unknown[] }).logs).toHaveLength(1)
  })

  test('may be given by an Interface of ethers', async () => {
    const abi = new Interface([
      'function both(uint256 one, tuple(bool yes, string[] texts) two) returns (uint256, string)',
      'event Seen(uint256 indexed one, string two)',
    ])
    const contract = asked.node.onCall(address, abi, {
      both: ([one, two]) => [(one as bigint) + 1n, (two as { texts: string[] }).texts.join('+')],
    })
    const data = abi.encodeFunctionData('both', [41n, [true, ['a', 'b']]]) as Hex
    expect([...abi.decodeFunctionResult('both', await asked.ask('eth_call', { to: address, data }))]).toEqual([
      42n,
      'a+b',
    ])
    const hash = contract.emit('Seen', { one: 5, two: 'x' })
    const { logs } = (await asked.ask('eth_getTransactionReceipt', hash)) as {
      logs: { topics: string[]; data: string }[]
    }
    expect([...abi.parseLog(logs[0]!)!.args]).toEqual([5n, 'x'])
  })

  test('tells functions of one name apart by their signatures', async () => {
    const abi = parseAbi(['function go(uint256) view returns (uint256)', 'function go(bool) view returns (uint256)'])
    expect(() => asked.node.onCall(address, abi, { go: () => 1n })).toThrow('go(uint256) or go(bool)')
    asked.node.onCall(address, abi, { 'go(bool)': ([yes]) => (yes === true ? 1n : 2n) })
    const data = encodeFunctionData({ abi, functionName: 'go', args: [true] })
    expect(BigInt(await asked.ask('eth_call', { to: address, data }))).toBe(1n)
  })

  test('refuses what its ABI has not', async () => {
    const { node } = asked
    expect(() => node.onCall(address, tokenAbi, { gone: () => 1 } as never)).toThrow('the ABI has no function gone')
    expect(() => node.onCall('0x12', tokenAbi, {})).toThrow('no address')
    expect(() => node.onCall(address, tokenAbi, {}).emit('Gone' as never)).toThrow('the ABI has no event Gone')
    expect(() => node.onCall(address, tokenAbi, {}).emit('Transfer', [who] as never)).toThrow(
      'is emitted with 3 value(s)',
    )
    expect(() => node.emit({ address: who, topics: ['0x12'] })).toThrow('topics must be')
    expect(() => node.emit({ address: who, data: '0x1' })).toThrow('data must be bytes')
  })
})

test('an estimate leaves room for what a handler does in transactions alone', async () => {
  const { node, ask } = asked
  const from = node.accounts[0]!.address
  node.onCall(address, (call) => {
    if (call.isTransaction) for (let slot = 0; slot < 2; slot++) call.setStorage(wordOf(slot), wordOf(1))
  })
  const gas = await ask('eth_estimateGas', { from, to: address })
  const hash = await ask('eth_sendTransaction', { from, to: address, gas })
  expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
  expect(await failureOf(ask('eth_estimateGas', { from, to: address, gas: '0x5209' }))).toMatchObject({
    message: 'gas required exceeds allowance (21001)',
  })
})

describe('a handler that fails by itself', () => {
  test('is an internal error of a call, which names it', async () => {
    asked.node.onCall(address, tokenAbi, { name: () => 5 as never })
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'name' })
    expect(await failureOf(asked.ask('eth_call', { to: address, data }))).toMatchObject({
      code: -32_603,
      message: expect.stringContaining('no string, as the ABI wants it'),
    })
  })

  test('is a revert of a transaction, and told in the console', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { node, ask } = asked
    node.onCall(address, () => {
      throw new TypeError('of my own')
    })
    const from = node.accounts[0]!.address
    const hash = await ask('eth_sendTransaction', { from, to: address, gas: '0x30d40' })
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x0' })
    expect(warn.mock.calls.flat().join()).toContain('of my own')
    warn.mockRestore()
  })
})

describe('a contract in bytes', () => {
  test('by one handler, or one for each selector', async () => {
    const { node, ask } = asked
    node.onCall(address, (call) => (call.data === '0x1234' ? `0x${call.from.slice(2)}` : '0x'))
    expect(await ask('eth_call', { from: who, to: address, data: '0x1234' })).toBe(who)
    node.onCall(address, { '0x70a08231': ({ block }) => wordOf(block.number), '0x06fdde03': () => {} })
    node.mine(3)
    expect(await ask('eth_call', { to: address, input: '0x70a08231' })).toBe(wordOf(3))
    expect(await ask('eth_call', { to: address, input: '0x06fdde03' })).toBe('0x')
    expect(await failureOf(ask('eth_call', { to: address, input: '0x12345678' }))).toMatchObject({ code: 3 })
    node.onCall(address, () => 'text' as Hex)
    expect(await failureOf(ask('eth_call', { to: address }))).toMatchObject({ code: -32_603 })
  })
})
