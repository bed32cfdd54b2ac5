import { iterateLogs } from '@keyrail/fetch'
import type { IterateLogsOptions, LogsClient } from '@keyrail/fetch'
import { describe, expect, test } from 'vitest'
import { limitResponseSize } from './limitResponseSize.ts'

const hex = (value: number): `0x${string}` => `0x${value.toString(16)}`

/** A node of 20,000 blocks that gives so many logs for each, and remembers how many each answer held. */
function nodeOf(logsOf: (block: number) => number): { client: LogsClient; answers: number[]; blocks: number[] } {
  const answers: number[] = []
  const blocks: number[] = []
  const eth_getLogs = async ({ fromBlock, toBlock }: { fromBlock?: string; toBlock?: string }) => {
    const logs = []
    for (let block = Number(fromBlock); block <= Number(toBlock); block++) {
      for (let index = 0; index < logsOf(block); index++) {
        logs.push({
          address: `0x${'c0'.repeat(20)}`,
          topics: [],
          data: `0x${'00'.repeat(32)}`,
          blockHash: `0x${'b0'.repeat(32)}`,
          blockNumber: hex(block),
          transactionHash: `0x${'70'.repeat(32)}`,
          transactionIndex: '0x0',
          logIndex: hex(index),
        })
      }
    }
    answers.push(logs.length)
    blocks.push(Number(toBlock) - Number(fromBlock) + 1)
    return logs
  }
  const reads = { eth_blockNumber: async () => hex(19_999), eth_getBlockByNumber: async () => null, eth_getLogs }
  return { client: { with: () => reads } as unknown as LogsClient, answers, blocks }
}

const count = async (client: LogsClient, options: Partial<IterateLogsOptions> = {}): Promise<number> => {
  let logs = 0
  for await (const _log of iterateLogs(client, { fromBlock: 0, ...options })) logs++
  return logs
}

describe('limitResponseSize', () => {
  test('keeps answers small where blocks hold much, and asks nothing twice', async () => {
    const { client, answers } = nodeOf(() => 5)
    expect(await count(limitResponseSize(client))).toBe(100_000)
    expect(answers.reduce((sum, logs) => sum + logs, 0)).toBe(100_000)
    // The first one knows nothing yet.
    expect(Math.max(...answers.slice(1))).toBeLessThan(3_000)
    expect(answers.length).toBeLessThan(60)
  })

  test('lets windows grow where blocks hold little, after blocks that held much, too', async () => {
    const { client, blocks } = nodeOf((block) => (block < 2_000 ? 5 : block % 100 === 0 ? 1 : 0))
    expect(await count(limitResponseSize(client))).toBe(10_180)
    expect(Math.max(...blocks)).toBeGreaterThan(1_500)
  })

  test('asks for a block alone, however much it holds', async () => {
    const { client, blocks } = nodeOf(() => 4_000)
    expect(await count(limitResponseSize(client), { toBlock: 9, maxBlocks: 3 })).toBe(40_000)
    expect(blocks).toEqual([3, 1, 1, 1, 1, 1, 1, 1])
  })
})
