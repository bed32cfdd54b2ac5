import { afterEach, describe, expect, test } from 'vitest'
import { createTransport } from '@keyrail/core'
import { createChainTransport, createReorgChain } from '@keyrail/core/test/reorgChain.ts'
import type { ReorgChain } from '@keyrail/core/test/reorgChain.ts'
import { wireTransaction } from '@keyrail/core/test/wire.ts'
import { createClient, isKeyrailError, subscribe } from '../src/index.ts'
import { createChainClient } from './chainClient.ts'

const createChain = (counts: readonly number[]): ReorgChain => {
  const chain = createReorgChain()
  chain.mine(counts)
  return chain
}

/** A chain of which some responses are replaced. */
const withResponses = (chain: ReorgChain, replace: (method: string, value: unknown) => unknown): ReorgChain => ({
  ...chain,
  respond: async (method, params) => replace(method, await chain.respond(method, params)),
})

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

describe('subscribe', () => {
  test('decodes headers, and the headers that a reorganization removed', async () => {
    const chain = createChain([0, 0])
    const events = subscribe(createChainClient(chain), { blocks: true }, { fromBlock: 2, pollingIntervalMs: 10 })
    ends.push(() => events.return())
    const { value: block } = await events.next()
    expect(block).toMatchObject({ type: 'block', block: { number: 2n, gasUsed: expect.any(BigInt) } })
    expect(Object.keys(Object(block).block)).not.toEqual(expect.arrayContaining(['transactions']))
    chain.reorg(1, 2)
    const { value: reorg } = await events.next()
    expect(reorg).toEqual({
      type: 'reorg',
      ancestor: { number: 1n, hash: chain.blocks[1]?.hash },
      removed: [Object(block).block],
    })
  })

  test('decodes logs, and the logs that a reorganization removed', async () => {
    const chain = createChain([0, 1])
    const events = subscribe(createChainClient(chain), { logs: {} }, { fromBlock: 2, pollingIntervalMs: 10 })
    ends.push(() => events.return())
    const { value: first } = await events.next()
    expect(first).toMatchObject({ type: 'log', log: { blockNumber: 2n, logIndex: 0, removed: false } })
    chain.reorg(1, 2)
    const { value: reorg } = await events.next()
    expect(reorg).toMatchObject({ type: 'reorg', removed: [{ ...Object(first).log, removed: true }] })
  })

  test('decodes full transactions', async () => {
    const chain = withResponses(createChain([0]), (method, value) =>
      method === 'eth_getBlockByNumber' ? { ...Object(value), transactions: [wireTransaction] } : value,
    )
    const client = createChainClient(chain)
    const events = subscribe(client, { blocks: { transactions: 'full' } }, { fromBlock: 'latest' })
    ends.push(() => events.return())
    const { value } = await events.next()
    expect(value).toMatchObject({ type: 'block', block: { number: 1n, transactions: [{ gas: 21_000n }] } })
  })

  test('ends with a malformed member, and its calls end too', async () => {
    const chain = createChain([0])
    const client = createChainClient(withResponses(chain, (_, value) => ({ ...Object(value), gasUsed: 'much' })))
    const events = subscribe(client, { blocks: true }, { fromBlock: 'latest', pollingIntervalMs: 10 })
    await expect(events.next()).rejects.toMatchObject({
      kind: 'badResponse',
      message: expect.stringContaining('block.gasUsed'),
    })
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  test('applies the call options that are bound to the client, except its signal', async () => {
    const chain = createChain([0])
    const transport = createChainTransport(chain)
    const seen: unknown[] = []
    const client = createClient({
      ...transport,
      request: (args, options) => {
        seen.push(options)
        return transport.request(args, options)
      },
    })
    const { signal } = new AbortController()
    const events = subscribe(client.with({ timeoutMs: 1_234, signal }), { blocks: true }, { fromBlock: 'latest' })
    ends.push(() => events.return())
    await events.next()
    expect(seen).toEqual([{ timeoutMs: 1_234, priority: 'poll', signal: expect.any(AbortSignal) }])
    expect(Object(seen[0]).signal).not.toBe(signal)
  })

  test('continues from the cursor', async () => {
    const chain = createChain([1, 3])
    const client = createChainClient(chain)
    const first = subscribe(client, { logs: {} }, { fromBlock: 1 })
    for (let i = 0; i < 2; i++) await first.next()
    await first.return()
    const second = subscribe(client, { logs: {} }, { cursor: first.cursor() })
    ends.push(() => second.return())
    expect((await second.next()).value).toMatchObject({ type: 'log', log: { blockNumber: 2n, logIndex: 1 } })
  })

  test.each([
    [undefined, 'subscribe takes what to subscribe to, such as { blocks: true }'],
    ['blocks', 'subscribe takes what to subscribe to, such as { blocks: true }'],
    [{}, 'a subscription takes'],
    [{ blocks: true, logs: {} }, 'a subscription takes'],
    [{ blocks: false }, 'blocks must be true'],
    [{ blocks: { transactions: true } }, 'blocks must be true'],
    [{ logs: { adress: '0x' } }, 'Unknown option "adress". Did you mean "address"?'],
    [{ pending: 'yes' }, 'pending must be true'],
  ])('rejects %j at once', (request, message) => {
    const client = createClient(createTransport({ url: 'http://127.0.0.1:1' }))
    let caught: unknown
    try {
      subscribe(client, request as never)
    } catch (error) {
      caught = error
    }
    expect(isKeyrailError(caught, 'invalidRequest')).toBe(true)
    expect(String(caught)).toContain(message)
  })
})
