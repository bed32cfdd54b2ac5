import { iterateLogs } from '@keyrail/fetch'
import type { IterateLogsOptions, LogsClient } from '@keyrail/fetch'
import { describe, expect, test } from 'vitest'
import { limitResponseSize } from './limitResponseSize.ts'

const hex = (value: number): `0x${string}` => `0x${value.toString(16)}`

/** A node with 20,000 blocks and a given number of logs in each. It records the size and the range of each response. */
function createNode(countLogs: (block: number) => number): { client: LogsClient; sizes: number[]; blocks: number[] } {
  const sizes: number[] = []
  const blocks: number[] = []
  const eth_getLogs = async ({ fromBlock, toBlock }: { fromBlock?: string; toBlock?: string }) => {
    const logs = []
    for (let block = Number(fromBlock); block <= Number(toBlock); block++) {
      for (let index = 0; index < countLogs(block); index++) {
        logs.push({
          address: `0x${'c0'.repeat(20)}`,
          topics: [],
          data: `0x${'00'.repeat(32)}`,
          blockHash: `0x${block.toString(16).padStart(64, '0')}`,
          blockNumber: hex(block),
          transactionHash: `0x${'70'.repeat(32)}`,
          transactionIndex: '0x0',
          logIndex: hex(index),
        })
      }
    }
    sizes.push(logs.length)
    blocks.push(Number(toBlock) - Number(fromBlock) + 1)
    return logs
  }
  const reads = { eth_blockNumber: async () => hex(19_999), eth_getBlockByNumber: async () => null, eth_getLogs }
  return { client: { with: () => reads } as unknown as LogsClient, sizes, blocks }
}

const count = async (client: LogsClient, options: Partial<IterateLogsOptions> = {}): Promise<number> => {
  let logs = 0
  for await (const _log of iterateLogs(client, { fromBlock: 0, ...options })) logs++
  return logs
}

describe('limitResponseSize', () => {
  test('limits responses for blocks with many logs, and requests no block twice', async () => {
    const { client, sizes } = createNode(() => 5)
    expect(await count(limitResponseSize(client))).toBe(100_000)
    expect(sizes.reduce((sum, logs) => sum + logs, 0)).toBe(100_000)
    // The size of the first one is unknown.
    expect(Math.max(...sizes.slice(1))).toBeLessThan(3_000)
    expect(sizes.length).toBeLessThan(60)
  })

  test('lets windows grow for blocks with few logs, even after blocks with many', async () => {
    const { client, blocks } = createNode((block) => (block < 2_000 ? 5 : block % 100 === 0 ? 1 : 0))
    expect(await count(limitResponseSize(client))).toBe(10_180)
    expect(Math.max(...blocks)).toBeGreaterThan(1_500)
  })

  test('requests single blocks, even if they are too large', async () => {
    const { client, blocks } = createNode(() => 4_000)
    expect(await count(limitResponseSize(client), { toBlock: 9, maxBlocks: 3 })).toBe(40_000)
    expect(blocks).toEqual([3, 1, 1, 1, 1, 1, 1, 1])
  })
})
