import type { Hex } from '@keyrail/core'
import { revertsAbi, revertsBytecode, tokenAbi, tokenBytecode } from '@keyrail/contracts'
import { setupServer } from 'msw/node'
import { createPublicClient, createWalletClient, http, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { anvil as chain } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMockNode } from '../src/index.ts'
import { journeys } from './journeys.ts'
import type { JourneyNode, Steps } from './journeys.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'

/** Fields that anvil returns in addition to the specification. For a receipt, also the timestamp of its block. */
const extraFields = ['totalDifficulty', 'blobGasPrice']
const isExtraField = (name: string, object: object): boolean =>
  extraFields.includes(name) || (name === 'blockTimestamp' && 'cumulativeGasUsed' in object)

/** Replaces values by their types, so that two nodes can be compared. */
function toShape(value: unknown): unknown {
  if (typeof value === 'string') {
    if (/^0x[\da-f]*$/i.test(value)) return { 42: 'address', 66: 'hash', 514: 'bloom' }[value.length] ?? 'hex'
    return 'text'
  }
  if (value === null || typeof value !== 'object') return value === null ? null : typeof value
  if (Array.isArray(value)) return [...new Set(value.map((one) => JSON.stringify(toShape(one))))].sort()
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, one]) => !isExtraField(name, value) && one !== undefined)
      .sort(([name], [other]) => (name < other ? -1 : 1))
      // The parts of a signature have no leading zeros, so their lengths vary.
      .map(([name, one]) => [name, /^[rs]$/.test(name) ? typeof one : toShape(one)]),
  )
}

const privateKey = generatePrivateKey()
const account = privateKeyToAccount(privateKey)
const mockUrl = 'https://mock.example/rpc'
let anvil: Anvil

async function setUpAnvil(): Promise<JourneyNode> {
  const client = createPublicClient({ chain, transport: http(anvil.url), pollingInterval: 10 })
  await client.request({
    method: 'anvil_setBalance',
    params: [account.address, `0x${parseEther('100').toString(16)}`],
  } as never)
  const wallet = createWalletClient({ chain, transport: http(anvil.url), account })
  const deploy = async (abi: unknown, bytecode: Hex, args: readonly unknown[]): Promise<Hex> => {
    const hash = await wallet.deployContract({ abi, bytecode, args } as never)
    return (await client.waitForTransactionReceipt({ hash })).contractAddress as Hex
  }
  const token = await deploy(tokenAbi, tokenBytecode, ['Token', 'TOK', 1_000n])
  return { url: anvil.url, privateKey, token, reverts: await deploy(revertsAbi, revertsBytecode, []) }
}

const token: Hex = `0x${'70'.repeat(20)}`
const reverts: Hex = `0x${'71'.repeat(20)}`
const node = createMockNode({ url: mockUrl, chainId: chain.id, provider: 'node' })
const server = setupServer(...node.handlers)

function setUpMock(): JourneyNode {
  node.reset()
  node.setBalance(account.address, parseEther('100'))
  const tokens = new Map<Hex, bigint>([[account.address, 1_000n]])
  node.mockContract(token, tokenAbi, {
    balanceOf: ([of]) => tokens.get(of) ?? 0n,
    transfer([to, value], call) {
      const balance = tokens.get(call.from) ?? 0n
      if (balance < value) call.revert('InsufficientBalance', [call.from, balance, value])
      if (call.isTransaction) tokens.set(call.from, balance - value).set(to, (tokens.get(to) ?? 0n) + value)
      call.emit('Transfer', { from: call.from, to, value })
      return true
    },
  })
  node.mockContract(reverts, revertsAbi, {
    custom: (args, call) => call.revert('Unauthorized', args),
    reason: (_, call) => call.revert('value must not be zero'),
    asserts: (_, call) => call.panic(0x01),
    bare: (_, call) => call.revert(),
  })
  // On anvil, deploying the contracts mined two blocks.
  node.mine(2)
  return { url: mockUrl, privateKey, token, reverts }
}

beforeAll(async () => {
  anvil = await startAnvil()
  server.listen({ onUnhandledFrame: 'bypass' })
})
afterAll(async () => {
  server.close()
  await anvil.stop()
})

describe.each(Object.keys(journeys))('through %s', (name) => {
  let real: Steps
  let mock: Steps
  beforeAll(async () => {
    const journey = journeys[name]!
    real = await journey(await setUpAnvil())
    mock = await journey(setUpMock())
  })

  test('responses have the same shape as those of a real node', () => {
    const shapes = (steps: Steps): unknown =>
      Object.fromEntries(
        Object.entries(steps)
          .filter(([step]) => !step.startsWith('error'))
          .map(([step, value]) => [step, toShape(value)]),
      )
    expect(shapes(mock)).toEqual(shapes(real))
  })

  test('failures are decoded like those of a real node', () => {
    const failed = (steps: Steps): unknown =>
      Object.fromEntries(Object.entries(steps).filter(([step]) => step.startsWith('error')))
    expect(Object.keys(failed(real) as object).length).toBeGreaterThan(1)
    expect(failed(mock)).toEqual(failed(real))
  })

  test('transactions changed the balances', () => {
    expect(BigInt(mock['tokens'] as bigint)).toBe(997n)
    expect(BigInt(mock['balance'] as bigint)).toBe(5n)
  })
})
