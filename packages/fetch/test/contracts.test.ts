import { manyEventsBytecode, revertsBytecode } from '@keyrail/contracts'
import { startService } from '@keyrail/contracts/test/startService.ts'
import type { Service } from '@keyrail/contracts/test/startService.ts'
import { toRevert } from '@keyrail/core/internal'
import type { Hex } from '@keyrail/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  call,
  createClient,
  estimateGas,
  getLogs,
  getTransactionReceipt,
  iterateLogs,
  waitForTransactionReceipt,
} from '../src/index.ts'
import type { Client } from '../src/index.ts'
import { getFailure } from '@keyrail/core/test/getFailure.ts'

// The client has no ABI coder, so this test encodes the calls by hand.
const word = (value: bigint | number): string => value.toString(16).padStart(64, '0')
const text = (value: string): string => `${word(value.length)}${Buffer.from(value).toString('hex').padEnd(64, '0')}`
const highest = 2n ** 256n - 1n
const run = '5e'.repeat(32)
const counted: Hex = '0x2c7d89c4950ead26f3de3a438e656ffed95d12493323f4ed536077f8a4d89522'

let service: Service
let client: Client
let from: Hex
let reverts: Hex
let emitter: Hex

/** Sent by the node's own account, past the service, which signs nothing; waited for through it. */
const send = async (transaction: {
  readonly to?: Hex
  readonly data: Hex
}): ReturnType<typeof waitForTransactionReceipt> => {
  const hash = (await service.node('eth_sendTransaction', [{ from, gas: '0x2dc6c0', ...transaction }])) as Hex
  return waitForTransactionReceipt(client, { hash, pollingIntervalMs: 20 })
}

beforeAll(async () => {
  service = await startService()
  client = createClient(service.key)
  from = ((await service.node('eth_accounts')) as Hex[])[0] as Hex
  reverts = (await send({ data: revertsBytecode })).contractAddress as Hex
  emitter = (await send({ data: manyEventsBytecode })).contractAddress as Hex
})
afterAll(async () => {
  client?.close()
  await service?.stop()
})

test('a contract is read', async () => {
  expect(await call(client, { to: reverts, data: `0x26b69354${word(5)}` })).toBe(`0x${word(5)}`)
  expect(await call(client, { to: reverts, data: `0xa12f69e0${word(highest)}${word(2)}` })).toBe(
    `0x${word(highest / 2n)}`,
  )
})

describe('a read that fails is a revert, with its bytes, after one request', () => {
  test.each([
    ['a custom error', '0x38045ed6', '0x1cdde67b'],
    ['the reason of a require', `0x26b69354${word(0)}`, `0x08c379a0${word(32)}${text('value must not be zero')}`],
    ['the panic of an assert', `0x395014ea${word(0)}`, `0x4e487b71${word(0x01)}`],
    ['the panic of an overflow', `0xc7b20e12${word(highest)}`, `0x4e487b71${word(0x11)}`],
    ['the panic of a division by zero', `0xa12f69e0${word(7)}${word(0)}`, `0x4e487b71${word(0x12)}`],
    ['the panic of an index out of bounds', `0x898e6219${word(3)}`, `0x4e487b71${word(0x32)}`],
    ['a revert that says nothing', '0x8095dd0b', '0x'],
  ] as const)('%s', async (_, data, bytes) => {
    const before = service.methods.length
    const { kind, source, retryable, rpcError } = await getFailure(call(client, { to: reverts, data }))
    expect({ kind, source, retryable }).toEqual({ kind: 'revert', source: 'node', retryable: false })
    expect(toRevert(rpcError as NonNullable<typeof rpcError>)).toMatchObject({ code: 3, data: bytes })
    expect(service.methods.slice(before)).toEqual(['eth_call'])
  })

  test('so is an estimate', async () => {
    const failing = estimateGas(client, { from, to: reverts, data: `0x27a5428b${word(11)}` })
    const { kind, rpcError } = await getFailure(failing)
    expect(kind).toBe('revert')
    expect(toRevert(rpcError as NonNullable<typeof rpcError>).data).toBe(
      `0x5afa7aec${word(BigInt(from))}${word(11)}${word(96)}${text('at most 10')}`,
    )
  })
})

test('many logs are read by range and by topic, and from the receipt', async () => {
  const { blockNumber, transactionHash } = await send({
    to: emitter,
    data: `0xebdb4aff${word(40)}${run}${word(96)}${text('hello')}`,
  })
  const range = { address: emitter, fromBlock: blockNumber, toBlock: blockNumber }
  const logs = await getLogs(client, range)
  expect(logs).toHaveLength(40)
  expect(logs[39]).toMatchObject({
    address: emitter,
    topics: [counted, `0x${word(39)}`, `0x${word(BigInt(from))}`, `0x${run}`],
    data: `0x${word(64)}${word(2n ** 256n - 39n)}${text('hello')}`,
    blockNumber,
    logIndex: 39,
    removed: false,
  })
  expect(await getLogs(client, { ...range, topics: [counted, [`0x${word(3)}`, `0x${word(7)}`]] })).toEqual([
    logs[3],
    logs[7],
  ])
  expect((await getTransactionReceipt(client, { hash: transactionHash }))?.logs).toEqual(logs)
  const iterated = []
  for await (const log of iterateLogs(client, { address: emitter, fromBlock: 0n, toBlock: blockNumber, maxBlocks: 1 }))
    iterated.push(log)
  expect(iterated).toEqual(logs)
})

test('a method that needs the service to sign is rejected', async () => {
  const { kind, source } = await getFailure(client.eth_sendTransaction({ from, to: emitter }))
  expect({ kind, source }).toEqual({ kind: 'methodUnavailable', source: 'service' })
})
