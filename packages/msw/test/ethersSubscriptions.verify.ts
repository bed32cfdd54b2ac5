import { applyLogs } from '@keyrail/contracts/test/appliedEvents.ts'
import type { SeenLog } from '@keyrail/contracts/test/appliedEvents.ts'
import { Contract, toBeHex } from 'ethers'
import type { ContractEventPayload, Log } from 'ethers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTransport, KeyrailProvider, webSocket } from '@keyrail/ethers'
import type { ProviderName } from '../src/index.ts'
import { createDisruptedNode, mockServer } from './disruptedNode.ts'
import type { DisruptedNode } from './disruptedNode.ts'

beforeAll(() => mockServer.listen({ onUnhandledFrame: 'error' }))
afterAll(() => mockServer.close())

let chain: DisruptedNode
let provider: KeyrailProvider
const use = (name: ProviderName = 'keyrail'): void => {
  chain = createDisruptedNode(name)
  provider = new KeyrailProvider({ ...chain.options, retry: { baseMs: 1 }, webSocket: webSocket() })
}
beforeEach(() => use())
afterEach(() => provider.destroy())

/** Resolves when a number of subscriptions have started. */
const started = async (count: number): Promise<void> => {
  await expect.poll(() => chain.node.calls('eth_subscribe').length).toBeGreaterThanOrEqual(count)
}

/** Collects logs, and those that were removed again. */
const collectLogs = (target: KeyrailProvider, filter: { readonly address: string }): SeenLog[] => {
  const logs: SeenLog[] = []
  const add = ({ blockHash, index, removed }: Log): void => void logs.push({ blockHash, logIndex: index, removed })
  void target.on(filter, (log: Log) => {
    add(log)
    void target.once(log.removedEvent(), add)
  })
  return logs
}

describe.each<ProviderName>(['keyrail', 'node'])('over the errors and limits of %s', (name) => {
  test('the events of ethers miss nothing and are emitted once', async () => {
    provider.destroy()
    use(name)
    const { address } = chain
    const numbers: number[] = []
    void provider.on('block', (number: number) => void numbers.push(number))
    const logs = collectLogs(provider, { address })
    let newest = 0
    void provider.on({ address }, ({ blockNumber }: Log) => void (newest = blockNumber))
    await started(2)
    await chain.disrupt(() => [numbers.at(-1), newest])
    expect(applyLogs(logs)).toEqual(await chain.getLogs())
    expect(numbers[0]).toBe(6)
    expect(new Set(numbers).size).toBe(chain.node.blockNumber() - 5)
    // A number comes again only after a reorganization, from its first new block on.
    const jumps = numbers.filter((number, at) => at > 0 && number > (numbers[at - 1] as number) + 1)
    expect(jumps).toEqual([])
  })
})

test('a contract, pending transactions and confirmations work over subscriptions', async () => {
  const contract = new Contract(chain.address, ['event Moved(uint256 by)'], provider)
  const moved: unknown[] = []
  const pending: unknown[] = []
  await contract.on('Moved', (by: bigint, { log }: ContractEventPayload) => void moved.push([by, log.blockNumber]))
  await provider.on('pending', (hash: string) => void pending.push(hash))
  await started(2)
  const hash = chain.node.emit({
    address: chain.address,
    topics: [contract.interface.getEvent('Moved')?.topicHash as `0x${string}`],
    data: toBeHex(7n, 32) as `0x${string}`,
  })
  await expect.poll(() => [moved, pending]).toEqual([[[7n, 6]], [hash]])
  const confirmed = provider.waitForTransaction(hash, 3)
  chain.node.mine(2)
  expect(await confirmed).toMatchObject({ hash, blockNumber: 6 })
})

describe('a paused provider', () => {
  const subscribe = async (): Promise<number[]> => {
    const numbers: number[] = []
    await provider.on('block', (number: number) => void numbers.push(number))
    await started(1)
    chain.node.mine()
    await expect.poll(() => numbers).toEqual([6])
    return numbers
  }

  test('emits what has happened in between when it is resumed', async () => {
    const numbers = await subscribe()
    provider.pause()
    chain.node.mine(2)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(numbers).toEqual([6])
    provider.resume()
    await expect.poll(() => numbers).toEqual([6, 7, 8])
  })

  test('drops events if it is to, and has no subscription', async () => {
    const numbers = await subscribe()
    provider.pause(true)
    await expect.poll(() => chain.node.calls('eth_unsubscribe').length).toBe(1)
    chain.node.mine(2)
    provider.resume()
    await started(2)
    chain.node.mine()
    await expect.poll(() => numbers).toEqual([6, 9])
  })

  test('that was paused before the first listener emits nothing until it is resumed', async () => {
    provider.pause()
    const numbers: number[] = []
    await provider.on('block', (number: number) => void numbers.push(number))
    await started(1)
    chain.node.mine()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(numbers).toEqual([])
    provider.resume()
    await expect.poll(() => numbers).toEqual([6])
  })
})

test('off ends the subscription', async () => {
  const numbers: number[] = []
  const listener = (number: number): void => void numbers.push(number)
  await provider.on('block', listener)
  await started(1)
  await provider.off('block', listener)
  await expect.poll(() => chain.node.calls('eth_unsubscribe').length).toBe(1)
  await provider.once('block', listener)
  await started(2)
  chain.node.mine(2)
  await expect.poll(() => chain.node.calls('eth_unsubscribe').length).toBe(2)
  expect(numbers).toEqual([6])
})

test('destroy ends subscriptions and connections, and nothing is called afterwards', async () => {
  await provider.on('block', () => {})
  await provider.on({ address: chain.address }, () => {})
  await started(2)
  provider.destroy()
  await expect.poll(() => chain.node.connections()).toBe(0)
  const before = chain.node.calls().length
  chain.node.mine()
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(chain.node.calls()).toHaveLength(before)
})

test('a failure that is not retryable is an error event, once', async () => {
  const transport = createTransport({ ...chain.options, webSocket: webSocket() })
  const shared = new KeyrailProvider(transport)
  const errors: unknown[] = []
  await shared.on('error', (error: unknown) => void errors.push(error))
  await shared.on('block', () => {})
  await started(1)
  transport.close()
  await expect.poll(() => errors).toMatchObject([{ code: 'CANCELLED', failure: { kind: 'aborted' } }])
  shared.destroy()
})
