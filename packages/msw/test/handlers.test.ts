import { createClient } from '@keyrail/fetch'
import { KeyrailProvider } from '@keyrail/ethers'
import { keyrail } from '@keyrail/viem'
import type { Hex } from '@keyrail/core'
import { Contract, getAddress, Interface, JsonRpcProvider } from 'ethers'
import { setupServer } from 'msw/node'
import { createPublicClient, encodeAbiParameters, encodeFunctionData, http, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Web3 } from 'web3'
import { createMockNode } from '../src/index.ts'
import type { MockNode } from '../src/index.ts'
import { createTestNode } from './createTestNode.ts'
import { getError } from '@keyrail/core/test/getFailure.ts'

/** Addresses as viem, ethers and web3.js return them, in mixed case. */
const token = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const owner = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'
const spender = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb'
const lower = (address: string): Hex => address.toLowerCase() as Hex

const url = 'https://node.example/rpc'
const abi = parseAbi([
  'function balanceOf(address who) view returns (uint256)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function move((address from, address[] to) path, address[2] pair) view returns (uint256)',
  'function go(uint256) view returns (uint256)',
  'function go(bool) view returns (uint256)',
])

const close: (() => void)[] = []
let warnings: string[] = []
beforeEach(() => {
  warnings = []
  vi.spyOn(console, 'warn').mockImplementation((...words) => void warnings.push(words.join(' ')))
})
afterEach(() => {
  for (const one of close.splice(0)) one()
  vi.restoreAllMocks()
})

const serve = (): MockNode => {
  const node = createMockNode({ url })
  const server = setupServer(...node.handlers)
  server.listen({ onUnhandledFrame: 'error' })
  close.push(() => server.close())
  return node
}

/** Reads `balanceOf` through each library, at an address in any case. */
const libraries: Readonly<Record<string, (who: string, at?: Hex) => Promise<bigint>>> = {
  viem: (who, address = token) =>
    createPublicClient({ transport: http(url, { retryCount: 0 }) }).readContract({
      abi,
      address,
      functionName: 'balanceOf',
      args: [who as Hex],
    }),
  'viem over Keyrail': (who, address = token) =>
    createPublicClient({ transport: keyrail({ url }) }).readContract({
      abi,
      address,
      functionName: 'balanceOf',
      args: [who as Hex],
    }),
  ethers: async (who, address = token) => {
    const provider = new JsonRpcProvider(url)
    close.push(() => provider.destroy())
    return new Contract(address, new Interface(abi), provider)['balanceOf']!(who) as Promise<bigint>
  },
  'ethers over Keyrail': async (who, address = token) => {
    const provider = new KeyrailProvider({ url })
    close.push(() => provider.destroy())
    return new Contract(address, new Interface(abi), provider)['balanceOf']!(who) as Promise<bigint>
  },
  'web3.js': async (who, address = token) => {
    const { Contract: Web3Contract } = new Web3(url).eth
    return (await new Web3Contract(abi as never, address).methods['balanceOf']!(who).call()) as unknown as bigint
  },
  '@keyrail/fetch': async (who, address = token) => {
    const client = createClient({ url })
    close.push(() => client.close())
    const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [who as Hex] })
    return BigInt(await client.eth_call({ to: address, data }, 'latest'))
  },
}

describe('a handler gets addresses with the checksum of EIP-55', () => {
  test.each(Object.entries(libraries))('equal to those of the test, with %s', async (_, balanceOf) => {
    const node = serve()
    node.mockContract(token, abi, { balanceOf: ([who]) => (who === owner ? 7n : who === token ? 8n : 0n) })
    expect(await balanceOf(owner)).toBe(7n)
    expect(await balanceOf(token)).toBe(8n)
    expect(await balanceOf(lower(owner), lower(token))).toBe(7n)
  })

  test('also in arrays and structs', async () => {
    const { node, request } = createTestNode()
    const move = vi.fn<() => bigint>(() => 1n)
    node.mockContract(lower(token), abi, { move })
    const data = encodeFunctionData({
      abi,
      functionName: 'move',
      args: [{ from: owner, to: [spender, token] }, [token, owner]],
    })
    await request('eth_call', { to: token, data: lower(data) })
    expect(move).toHaveBeenCalledWith([{ from: owner, to: [spender, token] }, [token, owner]], expect.anything())
  })

  test('as call.from and call.to, in calls and transactions, with and without an ABI', async () => {
    const { node, request } = createTestNode()
    const seen: string[] = []
    const [account] = node.accounts
    node.mockContract(lower(token), abi, {
      transfer: (_, call) => {
        seen.push(call.from, call.to)
        return true
      },
    })
    const data = encodeFunctionData({ abi, functionName: 'transfer', args: [owner, 1n] })
    await request('eth_call', { from: lower(spender), to: lower(token), data })
    await request('eth_sendTransaction', { from: account!.address, to: lower(token), data, gas: '0x30d40' })
    node.mockContract(lower(token), (call) => {
      seen.push(call.from, call.to)
      return call.from
    })
    // RPC responses stay in lower case, as nodes send them.
    expect(await request('eth_call', { from: spender, to: token })).toBe(lower(spender))
    const sender = privateKeyToAccount(account!.privateKey).address
    expect(seen).toEqual([spender, token, sender, token, spender, token])
  })

  test('and so do node.accounts and mockContract', () => {
    const { node } = createTestNode()
    for (const { address, privateKey } of node.accounts) {
      expect(address).toBe(getAddress(address))
      expect(address).toBe(privateKeyToAccount(privateKey).address)
    }
    expect(node.mockContract(lower(token), abi, {}).address).toBe(token)
  })
})

describe('a function without a handler is named in the test output', () => {
  test.each(Object.entries(libraries))('in the error of %s, and in a warning', async (_, balanceOf) => {
    const node = serve()
    node.mockContract(token, abi, { transfer: () => true })
    const error = await balanceOf(owner).then(
      () => expect.fail('no error'),
      (thrown: unknown) => thrown as Error,
    )
    expect(getText(error)).toContain(`No handler for balanceOf(address) of ${token}`)
    expect(warnings).toEqual([expect.stringContaining(`No handler for balanceOf(address) of ${token}`)])
    // A revert is not retried.
    expect(node.calls('eth_call')).toHaveLength(1)
  })

  test.each([
    [
      'a function',
      { 'balanceOf(address)': undefined },
      encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner] }),
      `No handler for balanceOf(address) of ${token}. Add one with node.mockContract`,
    ],
    [
      'an overloaded function',
      { 'go(bool)': () => 1n },
      encodeFunctionData({ abi, functionName: 'go', args: [1n] }),
      `No handler for go(uint256) of ${token}`,
    ],
    ['a function that the ABI does not have', {}, '0x12345678', `No handler for selector 0x12345678 of ${token}`],
    ['data shorter than a selector', {}, '0x1234', `No handler for selector 0x1234 of ${token}`],
    ['no data', {}, '0x', `No handler for calls without data of ${token}`],
  ] as const)('%s', async (_, handlers, data, message) => {
    const { node, request } = createTestNode()
    node.mockContract(token, abi, handlers as never)
    const expected = { code: 3, message: expect.stringContaining(`execution reverted: ${message}`) }
    expect(await getError(request('eth_call', { to: token, data }))).toMatchObject(expected)
    expect(await getError(request('eth_estimateGas', { to: token, data }))).toMatchObject(expected)
    const { from, gas } = { from: node.accounts[0]!.address, gas: '0x30d40' } as const
    const hash = await request('eth_sendTransaction', { from, to: token, data, gas })
    expect(await request('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x0' })
    expect(warnings).toEqual([expect.stringContaining(message)])
  })

  test('by its selector, if the contract has no ABI', async () => {
    const { node, request } = createTestNode()
    node.mockContract(token, { '0x06fdde03': () => '0x01' })
    expect(await getError(request('eth_call', { to: token, data: '0x70a08231' }))).toMatchObject({
      code: 3,
      message: expect.stringContaining(`No handler for selector 0x70a08231 of ${token}`),
    })
  })

  test('the revert data encodes the message, for libraries that decode it', async () => {
    const { node, request } = createTestNode()
    node.mockContract(token, abi, {})
    const failure = (await getError(request('eth_call', { to: token, data: '0x12345678' }))) as {
      message: string
      data: Hex
    }
    const reason = failure.message.slice('execution reverted: '.length)
    expect(failure.data).toBe(`0x08c379a0${encodeAbiParameters([{ type: 'string' }], [reason]).slice(2)}`)
  })

  test('once for each node, and once more after a reset', async () => {
    for (const { node, request } of [createTestNode(), createTestNode()]) {
      const call = async (): Promise<void> => {
        node.mockContract(token, abi, {})
        await getError(request('eth_call', { to: token, data: '0x12345678' }))
      }
      warnings = []
      await call()
      await call()
      expect(warnings).toHaveLength(1)
      node.reset()
      await call()
      expect(warnings).toHaveLength(2)
    }
  })

  test('a handler that reverts on purpose prints no warning', async () => {
    const { node, request } = createTestNode()
    node.mockContract(token, abi, { balanceOf: (_, call) => call.revert() })
    const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner] })
    expect(await getError(request('eth_call', { to: token, data }))).toMatchObject({ message: 'execution reverted' })
    expect(warnings).toEqual([])
  })
})

/** The message of an error and of its causes, as a test runner prints them. */
function getText(error: unknown): string {
  const { message, cause } = Object(error) as { message?: string; cause?: unknown }
  return cause === undefined ? String(message) : `${message}\n${getText(cause)}`
}
