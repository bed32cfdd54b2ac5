import { describe, expect, test } from 'vitest'
import { createAccounts } from './createAccounts.ts'
import { createChain } from './chain.ts'
import type { Chain } from './chain.ts'
import { decodeTransaction } from './decodeTransaction.ts'
import { signTransaction } from './encodeTransaction.ts'
import type { TransactionFields } from './transaction.ts'
import { stateKey } from './worldState.ts'

const chainId = 5
const held = createAccounts('seed')
const make = (options: Partial<Parameters<typeof createChain>[0]> = {}): Chain =>
  createChain({
    onChange: () => {},
    chainId,
    seed: 'seed',
    funded: held,
    timestamp: 1_000,
    blockTime: 12,
    automine: false,
    execute: () => ({ output: '0x', logs: [], gas: 0 }),
    ...options,
  })
const to = `0x${'ab'.repeat(20)}` as const
const fields = (changed: Partial<TransactionFields> = {}): TransactionFields => ({
  type: 2,
  chainId: BigInt(chainId),
  nonce: 0,
  to,
  value: 1n,
  input: '0x',
  gas: 21_000,
  maxFee: 3_000_000_000n,
  maxTip: 1_000_000_000n,
  accessList: [],
  maxBlobFee: 0n,
  blobHashes: [],
  authorizations: [],
  ...changed,
})
const send = (chain: Chain, changed: Partial<TransactionFields> = {}, account = 0): string => {
  const tx = signTransaction(fields(changed), chain.accounts[account]!.privateKey)
  chain.submit(decodeTransaction(tx.raw))
  return tx.hash
}
const balance = (chain: Chain, address: `0x${string}`, number?: number): bigint =>
  chain.read(stateKey.balance(address), number) as bigint
const latestTimestamp = (chain: Chain): number => chain.block(chain.height())!.header.timestamp

describe('the pool', () => {
  test.each<[what: string, changed: Partial<TransactionFields>, message: string]>([
    ['another chain', { chainId: 6n }, 'invalid chain id for signer: have 6 want 5'],
    ['too little gas', { gas: 20_999 }, 'intrinsic gas too low: gas 20999, minimum needed 21000'],
    ['more gas than a block has', { gas: 30_000_001 }, 'exceeds block gas limit'],
    ['a tip above the fee', { maxTip: 4_000_000_000n }, 'max priority fee per gas higher than max fee per gas'],
    [
      'more than the balance',
      { value: 10n ** 30n },
      'insufficient funds for gas * price + value: balance 10000000000000000000000',
    ],
  ])('rejects %s', (_, changed, message) => {
    expect(() => send(make(), changed)).toThrow(message)
  })

  test('rejects a known transaction and a used nonce', () => {
    const chain = make()
    send(chain)
    expect(() => send(chain)).toThrow('already known')
    chain.mine(1)
    expect(() => send(chain)).toThrow('nonce too low: next nonce 1, tx nonce 0')
  })

  test('accepts a replacement only if it pays at least 10 % more', () => {
    const chain = make()
    send(chain)
    expect(() => send(chain, { maxFee: 3_299_999_999n, maxTip: 1_100_000_000n })).toThrow(
      'replacement transaction underpriced',
    )
    const hash = send(chain, { maxFee: 3_300_000_000n, maxTip: 1_100_000_000n })
    chain.mine(1)
    expect(chain.block(1)?.executions.map(({ tx }) => tx.hash)).toEqual([hash])
  })

  test('holds transactions after a nonce gap, and mines in the order of nonces', () => {
    const chain = make()
    const late = send(chain, { nonce: 1, maxTip: 2_000_000_000n })
    chain.mine(1)
    expect(chain.find(late)).toBeUndefined()
    expect(chain.pool.nextNonce(chain.accounts[0]!.address, chain.read)).toBe(0)
    const early = send(chain)
    expect(chain.pool.nextNonce(chain.accounts[0]!.address, chain.read)).toBe(2)
    chain.mine(1)
    expect(chain.block(2)?.executions.map(({ tx }) => tx.hash)).toEqual([early, late])
  })

  test('mines the highest tip first, and holds transactions below the base fee', () => {
    const chain = make()
    const poor = send(chain, { maxFee: 100_000_000n, maxTip: 100_000_000n }, 2)
    const low = send(chain, {}, 0)
    const high = send(chain, { maxTip: 2_000_000_000n }, 1)
    chain.mine(1)
    expect(chain.block(1)?.executions.map(({ tx }) => tx.hash)).toEqual([high, low])
    expect(chain.pool.get(poor as `0x${string}`)).toBeDefined()
    // Empty blocks lower the base fee.
    chain.mine(30)
    expect(chain.find(poor)).toBeDefined()
  })
})

test('a transfer moves value; the sender pays the tip to the miner, and the base fee is burnt', () => {
  const chain = make()
  const [sender] = chain.accounts
  const before = balance(chain, sender!.address)
  send(chain, { value: 500n })
  chain.mine(1)
  const { baseFee } = chain.block(1)!.header
  expect(balance(chain, to)).toBe(500n)
  expect(balance(chain, sender!.address)).toBe(before - 500n - 21_000n * (baseFee + 1_000_000_000n))
  expect(balance(chain, `0x${'00'.repeat(20)}`)).toBe(21_000n * 1_000_000_000n)
  expect(balance(chain, to, 0)).toBe(0n)
  expect(chain.read(stateKey.nonce(sender!.address))).toBe(1)
})

test('a transaction that reverts costs its gas and changes nothing else', () => {
  const chain = make({
    execute: ({ write }) => {
      write(stateKey.slot(to, `0x${'00'.repeat(32)}`), '0x01')
      return {
        output: '0x',
        logs: [{ address: to, topics: [], data: '0x' }],
        gas: 5,
        reverted: { reason: 'no', data: '0x' },
      }
    },
  })
  send(chain, { gas: 30_000, value: 7n })
  chain.mine(1)
  const [execution] = chain.block(1)!.executions
  expect(execution).toMatchObject({ ok: false, gasUsed: 21_005, logs: [] })
  expect(balance(chain, to)).toBe(0n)
  expect(chain.read(stateKey.slot(to, `0x${'00'.repeat(32)}`))).toBe(`0x${'00'.repeat(32)}`)
})

test('the address of a new contract depends on its sender and nonce', () => {
  const chain = make()
  send(chain, { to: null, input: '0x6001', gas: 100_000 })
  chain.mine(1)
  const created = chain.block(1)!.executions[0]!.contractAddress!
  expect(created).toMatch(/^0x[\da-f]{40}$/)
  expect(chain.read(stateKey.code(created))).toBe('0x6001')
})

describe('time', () => {
  test('blocks are blockTime apart, and advanceTime mines those that are due', () => {
    const chain = make()
    chain.mine(2)
    expect(latestTimestamp(chain)).toBe(1_024)
    chain.advanceTime(11)
    expect(chain.height()).toBe(2)
    chain.advanceTime(1)
    expect(chain.height()).toBe(3)
    chain.advanceTime(36)
    expect([chain.height(), latestTimestamp(chain)]).toEqual([6, 1_072])
    // A block mined between two due times is not earlier than the clock.
    chain.advanceTime(5)
    chain.mine(1)
    expect(latestTimestamp(chain)).toBe(1_084)
  })

  test('setNextBlockTimestamp accepts only a later time', () => {
    const chain = make()
    chain.setNextBlockTimestamp(5_000)
    chain.mine(2)
    expect(latestTimestamp(chain)).toBe(5_012)
    expect(() => chain.setNextBlockTimestamp(5_012)).toThrow('is 5012. Use an integer above 5012')
    expect(() => chain.advanceTime(-1)).toThrow('advanceTime is -1. Use an integer of 0 or more')
    expect(() => chain.mine(0)).toThrow('mine is 0. Use an integer of 1 or more')
  })
})

describe('a reorganization', () => {
  test('returns the transactions to the pool, and the next block includes them', () => {
    const chain = make()
    const hash = send(chain)
    chain.mine(3)
    const old = [1, 2, 3].map((number) => chain.block(number)!.hash)
    chain.reorg(3, false)
    expect(chain.height()).toBe(3)
    expect([1, 2, 3].map((number) => chain.block(number)!.hash).filter((one) => old.includes(one))).toEqual([])
    expect(chain.find(hash)).toBeUndefined()
    expect(balance(chain, to)).toBe(0n)
    chain.mine(1)
    expect(chain.find(hash)?.block.number).toBe(4)
    expect(balance(chain, to)).toBe(1n)
  })

  test('changes neither the clock nor the timestamp set for the next block', () => {
    const chain = make()
    chain.mine(2)
    chain.advanceTime(5)
    chain.reorg(1, false)
    chain.advanceTime(7)
    expect([chain.height(), latestTimestamp(chain)]).toEqual([3, 1_036])
    chain.setNextBlockTimestamp(5_000)
    chain.reorg(2, false)
    chain.mine(1)
    expect(latestTimestamp(chain)).toBe(5_000)
  })

  test('can drop the transactions', () => {
    const chain = make()
    const hash = send(chain)
    chain.mine(1)
    chain.reorg(1, true)
    chain.mine(1)
    expect(chain.find(hash)).toBeUndefined()
    expect(chain.pool.all()).toEqual([])
  })

  test('preserves the state that a test has set', () => {
    const chain = make()
    chain.mine(2)
    chain.write(stateKey.balance(to), 99n)
    chain.reorg(2, false)
    expect(balance(chain, to)).toBe(99n)
  })

  test('cannot be deeper than the chain', () => {
    const chain = make()
    chain.mine(2)
    expect(() => chain.reorg(3, false)).toThrow('Use an integer from 1 to 2')
    expect(() => chain.reorg(0, false)).toThrow('Use an integer from 1 to 2')
  })
})

describe('a snapshot', () => {
  test('restores removed blocks, overridden state and pending transactions', () => {
    const chain = make()
    send(chain)
    chain.mine(2)
    const waiting = send(chain, { nonce: 1 })
    const hashes = [1, 2].map((number) => chain.block(number)!.hash)
    const id = chain.snapshot()
    chain.write(stateKey.balance(to), 99n)
    chain.mine(1)
    chain.reorg(3, true)
    chain.revert(id)
    expect([1, 2].map((number) => chain.block(number)!.hash)).toEqual(hashes)
    expect(balance(chain, to)).toBe(1n)
    expect(chain.pool.all().map(({ hash }) => hash)).toEqual([waiting])
  })

  test('can be reverted to once, which deletes later ones', () => {
    const chain = make()
    const [first, second] = [chain.snapshot(), chain.snapshot()]
    chain.revert(first)
    for (const id of [first, second, '0x77']) expect(() => chain.revert(id)).toThrow('There is no snapshot "0x')
  })
})
