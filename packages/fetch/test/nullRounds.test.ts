import { addNullRounds, toRound } from '@keyrail/core/test/nullRounds.ts'
import { createReorgChain } from '@keyrail/core/test/reorgChain.ts'
import { expect, test } from 'vitest'
import { iterateLogs } from '../src/index.ts'
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
