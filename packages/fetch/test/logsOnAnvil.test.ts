import type { Hex } from '@keyrail/core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createClient, getLogs, subscribe } from '../src/index.ts'
import type { Client, Log, SubscribeEvent } from '../src/index.ts'
import { iterateLogs } from '../src/logs/iterateLogs.ts'
import { emitterInitCode, toWord } from './emitter.ts'
import type { AnvilRpc } from './nodeMethods.ts'
import { formatLogPosition } from '@keyrail/core/test/reorgChain.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'

let anvil: Anvil
let client: Client<AnvilRpc>
let from: Hex
let emitter: Hex
let word = 0

/** Mines a block with the given number of logs. */
const emit = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++)
    await client.eth_sendTransaction({ from, to: emitter, data: toWord(++word), gas: '0x186a0' })
  await client.anvil_mine('0x1')
}
const canonical = async (): Promise<string[]> =>
  (await getLogs(client, { address: emitter, fromBlock: 0n, toBlock: 'latest' })).map(formatLogPosition)

beforeAll(async () => {
  anvil = await startAnvil()
  client = createClient<AnvilRpc>({ url: anvil.url })
  from = (await client.eth_accounts())[0] as Hex
  await client.eth_sendTransaction({ from, data: emitterInitCode, gas: '0x186a0' })
  await vi.waitFor(async () => {
    const block = await client.eth_getBlockByNumber('latest', false)
    const receipt = await client.eth_getTransactionReceipt(block?.transactions[0] as Hex)
    emitter = receipt?.contractAddress as Hex
    expect(emitter).toMatch(/^0x/)
  }, 30_000)
  await client.evm_setAutomine(false)
  for (let block = 0; block < 40; block++) await emit(block % 5)
})
afterAll(async () => {
  client.close()
  await anvil.stop()
})

test('iterateLogs returns the same logs as eth_getLogs, with any windows and from any cursor', async () => {
  const all = await canonical()
  expect(all).toHaveLength(80)
  for (const maxBlocks of [1, 7, 1_000]) {
    const seen: string[] = []
    let cursor: string | undefined
    for (const stop of [13, 40, Infinity]) {
      const logs = iterateLogs(client, {
        address: emitter,
        fromBlock: 'earliest',
        maxBlocks,
        checkReorg: true,
        ...(cursor !== undefined && { cursor: JSON.parse(cursor) }),
      })
      for await (const log of logs) if (seen.push(formatLogPosition(log)) >= stop) break
      cursor = JSON.stringify(logs.cursor())
    }
    expect(seen).toEqual(all)
  }
})

test('subscriptions follow anvil_reorg, evm_revert and mining between them', async () => {
  const blocks: SubscribeEvent<{ blocks: true }>[] = []
  const logs: SubscribeEvent<{ logs: {} }>[] = []
  const controller = new AbortController()
  const options = { fromBlock: 1, pollingIntervalMs: 10, signal: controller.signal }
  const over = Promise.allSettled([
    (async () => {
      for await (const event of subscribe(client, { blocks: true }, options)) blocks.push(event)
    })(),
    (async () => {
      for await (const event of subscribe(client, { logs: { address: emitter } }, options)) logs.push(event)
    })(),
  ])

  const blocksLeft = (): string[] => {
    const left: string[] = []
    for (const event of blocks) {
      if (event.type === 'block') left.push(event.block.hash)
      else for (const { hash } of event.removed) expect(left.pop()).toBe(hash)
    }
    return left
  }
  const logsLeft = (): string[] => {
    const left: string[] = []
    for (const event of logs) {
      if (event.type === 'log') left.push(formatLogPosition(event.log))
      else for (const log of event.removed) expect(left.pop()).toBe(formatLogPosition(log satisfies Log))
    }
    return left
  }
  const caughtUp = (): Promise<void> =>
    vi.waitFor(
      async () => {
        const head = await client.eth_getBlockByNumber('latest', false)
        expect(blocksLeft().at(-1)).toBe(head?.hash)
        expect(blocksLeft()).toHaveLength(Number(head?.number))
        expect(logsLeft()).toEqual(await canonical())
      },
      { timeout: 30_000, interval: 20 },
    )

  await caughtUp()
  const before = logsLeft().length
  await client.anvil_reorg(6, [])
  await caughtUp()
  expect(logsLeft().length).toBeLessThan(before)

  await emit(3)
  const snapshot = await client.evm_snapshot()
  await emit(4)
  await emit(2)
  await caughtUp()
  // The chain is two blocks shorter, with nothing in their place; then there is something.
  await client.evm_revert(snapshot)
  await caughtUp()
  const second = await client.evm_snapshot()
  await emit(1)
  await emit(1)
  await caughtUp()
  await client.evm_revert(second)
  await emit(2)
  await emit(2)
  await emit(2)
  await caughtUp()

  expect(blocks.filter(({ type }) => type === 'reorg').length).toBeGreaterThanOrEqual(3)
  expect(logs.flatMap((event) => (event.type === 'reorg' ? event.removed : [])).every(({ removed }) => removed)).toBe(
    true,
  )
  controller.abort('seen enough')
  expect(await over).toEqual([
    { status: 'rejected', reason: 'seen enough' },
    { status: 'rejected', reason: 'seen enough' },
  ])
})
