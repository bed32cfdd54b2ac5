import { addNullRounds, toRound } from '@keyrail/core/test/nullRounds.ts'
import type { NullRoundResponse } from '@keyrail/core/test/nullRounds.ts'
import { createReorgChain, NodeError } from '@keyrail/core/test/reorgChain.ts'
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

describe('a node that rejects every range for a null round fails the iteration, and no log is lost silently', () => {
  const text = (from: string, to: string): Record<string, string> => ({
    'names no round': 'range spans a null round, use smaller ranges',
    'names a round in the middle': 'null round (500)',
    'names another round that starts alike': `null round: ${from}0 ${to}0`,
    'names the first of each range': `requested epoch was a null round (${Number(from)})`,
    'names the last of each range, in hex': `requested epoch was a null round (${to})`,
  })
  test.each(Object.keys(text('', '')))('if it %s', async (name) => {
    const chain = createReorgChain()
    chain.mine(Array.from({ length: 1_000 }, () => 1))
    const { respond } = chain
    let queries = 0
    const client = createChainClient({
      ...chain,
      respond: async (method, params) => {
        if (method !== 'eth_getLogs') return respond(method, params)
        queries++
        const { fromBlock, toBlock } = params[0] as { readonly fromBlock: string; readonly toBlock: string }
        throw new NodeError('unknown', { code: -32_000, message: text(fromBlock, toBlock)[name] as string })
      },
    })
    const logs = iterateLogs(client, { fromBlock: 1n, toBlock: 1_000n, concurrency: 1 })
    await expect(logs.next()).rejects.toMatchObject({ message: expect.stringContaining('null round') })
    expect(queries).toBeLessThan(210)
  })
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
