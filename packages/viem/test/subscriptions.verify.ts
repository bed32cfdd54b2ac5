import { isDeepStrictEqual as isEqual } from 'node:util'
import { join } from 'node:path'
import { applyBlocks, applyLogs } from '@keyrail/contracts/test/appliedEvents.ts'
import type { SeenBlock, SeenLog } from '@keyrail/contracts/test/appliedEvents.ts'
import { openBundledPage } from '@keyrail/contracts/test/openBundledPage.ts'
import { startService } from '@keyrail/contracts/test/startService.ts'
import { createPublicClient, http } from 'viem'
import type { Hex } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { needs } from '../../../scripts/externalPrograms.ts'
import { createTransport, keyrail, webSocket } from '../src/index.ts'
import type { PageReport } from './subscriptionsPage.ts'

const service = await startService()
afterAll(service.stop)
const plain = createPublicClient({ transport: http(service.nodeUrl), cacheTime: 0 })
const request = plain.request as unknown as (args: { method: string; params?: unknown[] }) => Promise<unknown>
// Emits an empty log: PUSH0 PUSH0 LOG0.
const address = `0x${'e1'.repeat(20)}` as const
await request({ method: 'anvil_setCode', params: [address, '0x5f5fa0'] })
const [from] = (await request({ method: 'eth_accounts' })) as Hex[]

const emit = async (): Promise<void> => {
  await request({ method: 'eth_sendTransaction', params: [{ from, to: address, gas: '0x10000' }] })
}
/** Mines logs, and replaces some of them. */
const reorganize = async (hasSeen: (head: number) => Promise<boolean>): Promise<void> => {
  const seen = async (): Promise<void> => {
    // Anvil mines a transaction after it has responded.
    await expect.poll(async () => hasSeen(Number(await plain.getBlockNumber()))).toBe(true)
  }
  await emit()
  await emit()
  await seen()
  await request({ method: 'anvil_reorg', params: [2, []] })
  await emit()
  await seen()
  await request({ method: 'anvil_mine', params: ['0x3'] })
  await request({ method: 'anvil_reorg', params: [3, []] })
  await emit()
  await seen()
}
/** Returns the blocks of the chain from the first one that was seen. */
const readBlocks = async (seen: readonly SeenBlock[]): Promise<SeenBlock[]> => {
  const blocks: SeenBlock[] = []
  for (let number = BigInt(seen[0]?.number ?? 0); number <= (await plain.getBlockNumber()); number++) {
    const { hash, parentHash } = await plain.getBlock({ blockNumber: number })
    blocks.push({ number: Number(number), hash, parentHash })
  }
  return blocks
}
/** Returns the logs of the chain from the first one that was seen. */
const readLogs = async ([first]: readonly SeenLog[]): Promise<SeenLog[]> => {
  const { number: fromBlock } = await plain.getBlock({ blockHash: first?.blockHash as Hex })
  const logs = await plain.getLogs({ address, fromBlock })
  return logs.map((log) => ({ blockHash: log.blockHash, logIndex: log.logIndex, removed: false }))
}

test.each([
  ['anvil', { url: service.nodeUrl }],
  ['the service', service.app],
])('the watchers follow reorganizations over %s', async (_, endpoint) => {
  const transport = createTransport({ ...endpoint, webSocket: webSocket() })
  const client = createPublicClient({ transport: keyrail(transport), cacheTime: 0 })
  const blocks: SeenBlock[] = []
  const logs: SeenLog[] = []
  const pending: Hex[] = []
  const stops = [
    client.watchBlocks({
      onBlock: ({ number, hash, parentHash }) => void blocks.push({ number: Number(number), hash, parentHash }),
    }),
    client.watchEvent({
      address,
      onLogs: (received) => {
        for (const { blockHash, logIndex, removed } of received) logs.push({ blockHash, logIndex, removed })
      },
    }),
    client.watchPendingTransactions({ onTransactions: (hashes) => void pending.push(...hashes) }),
  ]
  try {
    // Until each one has started.
    await expect
      .poll(async () => {
        await emit()
        return Math.min(blocks.length, logs.length, pending.length)
      })
      .toBeGreaterThan(0)
    // The logs arrive later than the blocks. Those that were not seen before a reorganization are not removed by it.
    await reorganize(async (head) => blocks.at(-1)?.number === head && isEqual(applyLogs(logs), await readLogs(logs)))
    await expect.poll(async () => isEqual(applyBlocks(blocks), await readBlocks(blocks))).toBe(true)
    await expect.poll(async () => isEqual(applyLogs(logs), await readLogs(logs))).toBe(true)
    expect(logs.some(({ removed }) => removed)).toBe(true)
  } finally {
    for (const stop of stops) stop()
    transport.close()
  }
})

test('the watchers of a page in Chromium follow reorganizations of anvil', needs('chromium'), async () => {
  const { getReport, thrown, close } = await openBundledPage<PageReport>(
    join(import.meta.dirname, 'subscriptionsPage.ts'),
    { node: service.nodeUrl, address },
  )
  try {
    await expect
      .poll(async () => {
        await emit()
        const { blocks, logs } = await getReport()
        return Math.min(blocks.length, logs.length)
      })
      .toBeGreaterThan(0)
    await reorganize(async (head) => (await getReport()).blocks.at(-1)?.number === head)
    await expect
      .poll(async () => {
        const { blocks, logs } = await getReport()
        return isEqual(applyBlocks(blocks), await readBlocks(blocks)) && isEqual(applyLogs(logs), await readLogs(logs))
      })
      .toBe(true)
    expect([...(await getReport()).errors, ...thrown]).toEqual([])
  } finally {
    await close()
  }
})
