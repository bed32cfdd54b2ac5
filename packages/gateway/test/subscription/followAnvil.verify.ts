import { expect, onTestFinished, test, vi } from 'vitest'
import { createChainFollower } from '../../src/proxy/subscription/chain/createChainFollower.ts'
import { createBloom } from '../../src/proxy/subscription/chain/logsBloom.ts'
import type { ChainFollower, ChainStart, ChainStep } from '../../src/proxy/subscription/followedChain.ts'
import { startChainAnvil } from './chainAnvil.ts'
import type { ChainAnvil } from './chainAnvil.ts'
import { createChainConsumer } from './chainConsumer.ts'
import type { ChainConsumer } from './chainConsumer.ts'
import { startNodeSource } from './startNodeSource.ts'

interface Followed {
  readonly follower: ChainFollower
  readonly steps: ChainStep[]
  readonly faults: string[]
  /** The numbers of blocks whose logs nothing confirmed. */
  readonly incomplete: number[]
  readonly locate: (cursor: { number: number; hashes: string[] } | undefined) => Promise<ChainStart>
  /** Starts a consumer of logs. */
  readonly consume: (cursor?: { number: number; hashes: string[] }) => Promise<ChainConsumer>
}

/** Follows anvils by HTTP, and is woken by their WebSockets. */
const follow = async (anvils: readonly ChainAnvil[]): Promise<Followed> => {
  const { group, source } = await startNodeSource(
    anvils.map(({ url }, index) => ({ url, wsUrl: url.replace('http', 'ws'), name: `anvil-${index}` })),
  )
  const steps: ChainStep[] = []
  const faults: string[] = []
  const incomplete: number[] = []
  const consumers: ChainConsumer[] = []
  const follower = createChainFollower(() => group, {
    bounds: { timeoutMs: 10_000, maxResponseBytes: 10_000_000, maxBufferedBytes: Infinity },
    onFault: (reason) => faults.push(reason),
    onIncompleteLogs: ({ number }) => incomplete.push(number),
    onHead: source.onHead,
  })
  follower.start((step) => {
    steps.push(step)
    for (const consumer of consumers) consumer.apply(step)
  })
  onTestFinished(follower.stop)
  const start = (
    cursor: { number: number; hashes: string[] } | undefined,
    onStart: (start: ChainStart) => void,
  ): Promise<ChainStart> =>
    new Promise((resolve, reject) => {
      follower.locate({ cursor, logs: true }, (located) => {
        if (typeof located === 'string') {
          reject(new Error(located))
          return
        }
        onStart(located)
        resolve(located)
      })
    })
  return {
    follower,
    steps,
    faults,
    incomplete,
    locate: (cursor) => start(cursor, () => {}),
    consume: async (cursor) => {
      await start(cursor, (located) => consumers.push(createChainConsumer(located, { logs: true })))
      return consumers.at(-1) as ChainConsumer
    },
  }
}

const startAnvils = async (count: number): Promise<readonly ChainAnvil[]> => {
  const anvils = await Promise.all(Array.from({ length: count }, startChainAnvil))
  for (const { stop } of anvils) onTestFinished(stop)
  return anvils
}

/** Waits until a consumer has exactly the blocks and the logs of a node. */
const untilSame = async (consumer: ChainConsumer, anvil: ChainAnvil): Promise<void> => {
  const hashes = (await anvil.blocks()).map(({ hash }) => hash)
  await vi.waitFor(() => {
    const chain = consumer.chain()
    expect(chain.map(({ hash }) => hash)).toEqual(hashes.slice(chain[0]?.number))
  }, 60_000)
  for (const { hash, logs } of consumer.chain().slice(1))
    expect(logs?.map((log) => JSON.parse(log) as unknown)).toEqual(await anvil.logs(hash))
}

test('mining, reorganizations and a shorter chain are followed exactly, with all logs', async () => {
  const [anvil] = (await startAnvils(1)) as [ChainAnvil]
  for (let block = 0; block < 10; block += 1) await anvil.mine(block % 3)
  const { consume, steps, faults, incomplete } = await follow([anvil])
  const consumer = await consume()
  for (let block = 0; block < 5; block += 1) await anvil.mine(block)
  await untilSame(consumer, anvil)
  const emitted = consumer.chain().flatMap(({ logs }) => logs ?? [])
  expect(emitted).toHaveLength(20)

  await anvil.send('anvil_reorg', [6, []])
  await untilSame(consumer, anvil)
  await anvil.mine(2)
  await anvil.mine(1)
  await anvil.mine(1)
  await untilSame(consumer, anvil)

  // Nothing takes the place of two blocks, which no node announces.
  await anvil.send('anvil_rollback', [2])
  await untilSame(consumer, anvil)
  await anvil.mine(3)
  await untilSame(consumer, anvil)
  expect(steps.filter(({ type }) => type === 'reorg')).toHaveLength(2)
  expect([faults, incomplete]).toEqual([[], []])
})

test('the filter of logs is that of the block', async () => {
  const [anvil] = (await startAnvils(1)) as [ChainAnvil]
  const { consume, steps } = await follow([anvil])
  await consume()
  await anvil.mine(7)
  await vi.waitFor(() => expect(steps).toHaveLength(1), 60_000)
  const [step] = steps
  if (step?.type !== 'block') throw new Error('no block')
  const { logs = [], header } = step.block
  expect(logs).toHaveLength(14)
  expect(await createBloom(logs)).toBe((JSON.parse(header) as { logsBloom: string }).logsBloom)
})

test('a node that dies is replaced by another one, and nothing is lost, doubled or taken back', async () => {
  const [first, second] = (await startAnvils(2)) as [ChainAnvil, ChainAnvil]
  const { consume, steps, faults } = await follow([first, second])
  const consumer = await consume()
  const mine = async (anvils: readonly ChainAnvil[], blocks: number): Promise<void> => {
    for (let block = 0; block < blocks; block += 1) for (const anvil of anvils) await anvil.mine(2)
  }
  await mine([first, second], 3)
  await untilSame(consumer, first)
  // The second node lags when the first one dies, and catches up later.
  await mine([first], 3)
  await untilSame(consumer, first)
  await first.stop()
  await new Promise((resolve) => {
    setTimeout(resolve, 1_500)
  })
  expect(consumer.chain()).toHaveLength(7)
  await mine([second], 5)
  await untilSame(consumer, second)
  expect(consumer.chain()).toHaveLength(9)
  expect([steps.filter(({ type }) => type === 'reorg'), faults]).toEqual([[], []])
})

test('a follower that has just started continues where a client of another one was', async () => {
  const [anvil] = (await startAnvils(1)) as [ChainAnvil]
  for (let block = 0; block < 40; block += 1) await anvil.mine(block % 2)
  const blocks = await anvil.blocks()
  const { consume, locate } = await follow([anvil])
  const hashes = blocks.slice(0, 12).map(({ hash }) => hash)
  const consumer = await consume({ number: 11, hashes: hashes.toReversed() })
  await untilSame(consumer, anvil)
  expect(consumer.chain()).toHaveLength(blocks.length - 11)
  await anvil.mine(1)
  await untilSame(consumer, anvil)
  await expect(locate({ number: 11, hashes: [`0x${'1'.repeat(64)}`] })).rejects.toThrow('tooOld')
})
