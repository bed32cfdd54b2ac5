import { addNullRounds, toRound } from '@keyrail/core/test/nullRounds.ts'
import type { NullRoundResponse } from '@keyrail/core/test/nullRounds.ts'
import { createReorgChain } from '@keyrail/core/test/reorgChain.ts'
import { describe, expect, test } from 'vitest'
import { isReorgError, iterateLogs } from '../src/index.ts'
import { createChainClient } from './chainClient.ts'

test.each([1, 2, 3, 100])(
  'iterateLogs reads a chain that skips numbers, as Filecoin does, in windows of %d blocks',
  async (maxBlocks) => {
    const chain = createReorgChain()
    chain.mine(Array.from({ length: 12 }, () => 1))
    const client = createChainClient(addNullRounds(chain, 'an error'))
    const numbers: number[] = []
    for await (const log of iterateLogs(client, { fromBlock: 4n, maxBlocks })) numbers.push(Number(log.blockNumber))
    expect(numbers).toEqual(Array.from({ length: 9 }, (_, at) => toRound(4 + at)))
  },
)

describe.each<NullRoundResponse>(['an error', 'null'])(
  'iterateLogs with checkReorg, on a chain that skips numbers and responds with %s to a request for one',
  (response) => {
    test.each([1, 2, 3, 100])('reads it in windows of %d blocks', async (maxBlocks) => {
      const chain = createReorgChain()
      chain.mine(Array.from({ length: 12 }, () => 1))
      const client = createChainClient(addNullRounds(chain, response))
      const numbers: number[] = []
      for await (const log of iterateLogs(client, { fromBlock: 1n, toBlock: 8n, maxBlocks, checkReorg: true }))
        numbers.push(Number(log.blockNumber))
      expect(numbers).toEqual([1, 2, 3, 6, 7])
    })

    test('detects a reorganization of the blocks around a gap', async () => {
      const chain = createReorgChain()
      chain.mine(Array.from({ length: 5 }, () => 1))
      const client = createChainClient(addNullRounds(chain, response))
      const logs = iterateLogs(client, { fromBlock: 1n, toBlock: 5n, checkReorg: true })
      for await (const log of logs) expect(Number(log.blockNumber)).toBeLessThan(4)
      const cursor = logs.cursor()
      const resume = async (): Promise<unknown> =>
        iterateLogs(client, { fromBlock: 1n, cursor, checkReorg: true })
          .next()
          .then(
            ({ value }) => value?.blockNumber,
            (error: unknown) => isReorgError(error) && error.reorg.fromBlock,
          )
      expect(await resume()).toBe(6n)
      chain.reorg(3)
      expect(await resume()).toBe(1n)
    })
  },
)

test('iterateLogs with checkReorg does not take a node that is behind for a chain that skips numbers', async () => {
  const chain = createReorgChain()
  chain.mine(Array.from({ length: 6 }, () => 1))
  const { respond } = chain
  const lagging = {
    ...chain,
    respond: async (method: string, params: readonly unknown[]) =>
      method === 'eth_getBlockByNumber' && Number(params[0]) > 3 ? null : respond(method, params),
  }
  const logs = iterateLogs(createChainClient(lagging), { fromBlock: 1n, toBlock: 4n, checkReorg: true })
  await expect(logs.next()).rejects.toMatchObject({ kind: 'lagging', retryable: true })
})

test('a log that the node sends twice is read once', async () => {
  const chain = createReorgChain()
  chain.mine([2, 1])
  const { respond } = chain
  const twice = {
    ...chain,
    respond: async (method: string, params: readonly unknown[]) => {
      const result = await respond(method, params)
      return method === 'eth_getLogs' ? [...(result as unknown[]), ...(result as unknown[])] : result
    },
  }
  const found: string[] = []
  for await (const log of iterateLogs(createChainClient(twice), { fromBlock: 0n }))
    found.push(`${log.blockNumber}/${log.logIndex}`)
  expect(found).toEqual(['1/0', '1/1', '2/0'])
})
