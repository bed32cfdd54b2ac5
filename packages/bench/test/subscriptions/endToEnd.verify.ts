import { createSubscription, createTransport, webSocket } from '@keyrail/core'
import type { Transport } from '@keyrail/core'
import { getApiKeyUrl } from '@keyrail/gateway'
import { startChainAnvil } from '@keyrail/gateway/test/subscription/chainAnvil.ts'
import type { ChainAnvil } from '@keyrail/gateway/test/subscription/chainAnvil.ts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createKeys, startInstance } from './startInstance.ts'
import { startSubscriber, toLogPlace } from './subscriber.ts'
import type { Subscriber } from './subscriber.ts'

/** The options of upstreams for anvils, which speak HTTP and WebSocket at one port. */
const toUpstreams = (anvils: readonly ChainAnvil[]) =>
  anvils.map(({ url }, index) => ({ url, wsUrl: url.replace('http', 'ws'), name: `anvil-${index}` }))

const startAnvils = async (): Promise<readonly [ChainAnvil, ChainAnvil]> => {
  const [first, second] = await Promise.all([startChainAnvil(), startChainAnvil()])
  onTestFinished(async () => {
    await Promise.all([first.stop(), second.stop()])
  })
  return [first, second]
}

const mine = async (anvils: readonly ChainAnvil[], counts: readonly number[]): Promise<void> => {
  for (const count of counts) await Promise.all(anvils.map((anvil) => anvil.mine(count)))
}

const open = (url: string): Transport => {
  const transport = createTransport({ url, webSocket: webSocket() })
  onTestFinished(() => transport.close())
  return transport
}

/** Starts a subscriber to blocks and one to logs, and waits until they have started at the head. */
const startBoth = async (transport: Transport): Promise<readonly [Subscriber, Subscriber]> => {
  const both = [
    startSubscriber(transport, { blocks: true }, { fromBlock: 0 }),
    startSubscriber(transport, { logs: {} }, { fromBlock: 0 }),
  ] as const
  onTestFinished(async () => {
    for (const { stop } of both) await stop()
  })
  await vi.waitFor(() => expect(both[0].applied.length).toBeGreaterThan(0), 30_000)
  return both
}

/** Waits until the subscribers have exactly the blocks and the logs of a node. */
const untilSame = async ([blocks, logs]: readonly [Subscriber, Subscriber], anvil: ChainAnvil): Promise<void> => {
  const hashes = (await anvil.blocks()).map(({ hash }) => hash)
  const places = await Promise.all(
    hashes.map(async (hash) => (await anvil.logs(hash)).map((_, index) => toLogPlace(hash, index))),
  )
  await vi.waitFor(() => {
    expect(blocks.applied.map(({ place }) => place)).toEqual(hashes)
    expect(logs.applied.map(({ place }) => place)).toEqual(places.flat())
  }, 60_000)
  expect([blocks.problems, logs.problems]).toEqual([[], []])
}

test('blocks and logs are exactly those of the nodes, through reorganizations, a restart and the loss of a node', async () => {
  const anvils = await startAnvils()
  const { keys, key } = createKeys()
  const upstreams = toUpstreams(anvils)
  const started = await startInstance({ keys, upstreams })
  const transport = open(getApiKeyUrl(started.url, 'testnet', key))
  const both = await startBoth(transport)
  await mine(anvils, [1, 0, 2, 3])
  await untilSame(both, anvils[0])
  // Over one connection, not by polling.
  await vi.waitFor(() =>
    expect(started.gateway.webSockets().subscriptions.get('testnet')).toMatchObject({ newHeads: 1, logs: 1 }),
  )

  for (const anvil of anvils) await anvil.send('anvil_reorg', [3, []])
  await mine(anvils.slice(0, 1), [1, 2])
  await untilSame(both, anvils[0])
  expect(both[0].counts.reorgs).toBe(1)
  // It has not mined since.
  await anvils[1].stop()

  await started.gateway.close({ graceMs: 0 })
  const restarted = await startInstance({ keys, upstreams, port: started.port })
  onTestFinished(() => restarted.gateway.close({ graceMs: 0 }))
  await mine(anvils.slice(0, 1), [2, 1])
  await untilSame(both, anvils[0])
  await vi.waitFor(
    () => expect(restarted.gateway.webSockets().subscriptions.get('testnet')).toMatchObject({ newHeads: 1, logs: 1 }),
    60_000,
  )
  await mine(anvils.slice(0, 1), [1])
  await untilSame(both, anvils[0])
})

test('the subscriptions move to another node when theirs dies, and miss nothing', async () => {
  const anvils = await startAnvils()
  const { keys, key } = createKeys()
  const { gateway, url } = await startInstance({ keys, upstreams: toUpstreams(anvils) })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const both = await startBoth(open(getApiKeyUrl(url, 'testnet', key)))
  await mine(anvils, [1, 2])
  await untilSame(both, anvils[1])
  await anvils[0].stop()
  await mine(anvils.slice(1), [1, 0, 3])
  await untilSame(both, anvils[1])
  expect(both.map(({ counts }) => counts.reorgs)).toEqual([0, 0])
})

test('pending transactions are reported once', async () => {
  const anvils = await startAnvils()
  const { keys, key } = createKeys()
  const { gateway, url } = await startInstance({ keys, upstreams: toUpstreams(anvils) })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const subscription = createSubscription(open(getApiKeyUrl(url, 'testnet', key)), { pending: true })
  const seen: string[] = []
  const reading = (async () => {
    for await (const event of subscription) seen.push(event.hash)
  })()
  onTestFinished(async () => {
    await subscription.return()
    await reading
  })
  await vi.waitFor(() =>
    expect(gateway.webSockets().subscriptions.get('testnet')).toMatchObject({ newPendingTransactions: 1 }),
  )
  const sent: string[] = []
  await vi.waitFor(async () => {
    const [from] = await anvils[0].send<string[]>('eth_accounts')
    sent.push(await anvils[0].send<string>('eth_sendTransaction', [{ from, to: from, value: '0x1' }]))
    expect(seen.length).toBeGreaterThan(0)
  }, 30_000)
  await vi.waitFor(() => expect(seen).toContain(sent.at(-1)), 30_000)
  expect(new Set(seen).size).toBe(seen.length)
})
