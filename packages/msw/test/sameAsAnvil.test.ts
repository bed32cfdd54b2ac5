import type { Hex } from '@keyrail/core'
import { revertsAbi, revertsBytecode, tokenAbi, tokenBytecode } from '@keyrail/contracts'
import { setupServer } from 'msw/node'
import { createPublicClient, createWalletClient, http, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { anvil as chain } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMockNode } from '../src/index.ts'
import { journeys } from './journeys.ts'
import type { Place, Steps } from './journeys.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'

/** Fields that anvil gives beyond the specification; for a receipt the time of its block. */
const beyond = ['totalDifficulty', 'blobGasPrice']
const isBeyond = (name: string, object: object): boolean =>
  beyond.includes(name) || (name === 'blockTimestamp' && 'cumulativeGasUsed' in object)

/** What stands in for a value of which only the form counts. */
function shapeOf(value: unknown): unknown {
  if (typeof value === 'string') {
    if (/^0x[\da-f]*$/i.test(value)) return { 42: 'address', 66: 'hash', 514: 'bloom' }[value.length] ?? 'hex'
    return 'text'
  }
  if (value === null || typeof value !== 'object') return value === null ? null : typeof value
  if (Array.isArray(value)) return [...new Set(value.map((one) => JSON.stringify(shapeOf(one))))].sort()
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, one]) => !isBeyond(name, value) && one !== undefined)
      .sort(([name], [other]) => (name < other ? -1 : 1))
      // Halves of a signature are written without zeros in front, so their length says nothing.
      .map(([name, one]) => [name, /^[rs]$/.test(name) ? typeof one : shapeOf(one)]),
  )
}

const privateKey = generatePrivateKey()
const account = privateKeyToAccount(privateKey)
const mockUrl = 'https://mock.example/rpc'
let anvil: Anvil

async function onAnvil(): Promise<Place> {
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
const node = createMockNode({ url: mockUrl, chainId: chain.id, personality: 'node' })
const server = setupServer(...node.handlers)

function onMock(): Place {
  node.reset()
  node.setBalance(account.address, parseEther('100'))
  const tokens = new Map<Hex, bigint>([[account.address, 1_000n]])
  node.onCall(token, tokenAbi, {
    balanceOf: ([of]) => tokens.get(of) ?? 0n,
    transfer([to, value], call) {
      const held = tokens.get(call.from) ?? 0n
      if (held < value) call.revert('InsufficientBalance', [call.from, held, value])
      if (call.isTransaction) tokens.set(call.from, held - value).set(to, (tokens.get(to) ?? 0n) + value)
      call.emit('Transfer', { from: call.from, to, value })
      return true
    },
  })
  node.onCall(reverts, revertsAbi, {
    custom: (args, call) => call.revert('Unauthorized', args),
    reason: (_, call) => call.revert('value must not be zero'),
    asserts: (_, call) => call.panic(0x01),
    bare: (_, call) => call.revert(),
  })
  // Anvil has mined two blocks for its contracts.
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
    real = await journey(await onAnvil())
    mock = await journey(onMock())
  }, 60_000)

  test('answers have the same form as those of a real node', () => {
    const forms = (steps: Steps): unknown =>
      Object.fromEntries(
        Object.entries(steps)
          .filter(([step]) => !step.startsWith('error'))
          .map(([step, value]) => [step, shapeOf(value)]),
      )
    expect(forms(mock)).toEqual(forms(real))
  })

  test('failures are decoded as those of a real node', () => {
    const failed = (steps: Steps): unknown =>
      Object.fromEntries(Object.entries(steps).filter(([step]) => step.startsWith('error')))
    expect(Object.keys(failed(real) as object).length).toBeGreaterThan(1)
    expect(failed(mock)).toEqual(failed(real))
  })

  test('what was sent has arrived', () => {
    expect(BigInt(mock['tokens'] as bigint)).toBe(997n)
    expect(BigInt(mock['balance'] as bigint)).toBe(5n)
  })
})
