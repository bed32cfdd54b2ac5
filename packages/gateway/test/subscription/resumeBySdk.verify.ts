import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSubscription, KeyrailError } from '@keyrail/core'
import type { LogFilter, RpcLog, Transport } from '@keyrail/core'
import { createChainTransport, createReorgChain } from '@keyrail/core/test/reorgChain.ts'
import { serveSubscriptions } from '@keyrail/core/test/subscribe/serveSubscriptions.ts'
import type { SocketNotification, Subscriber } from '@keyrail/core/test/subscribe/serveSubscriptions.ts'
import { createClient, openHub, toLog } from '../openHub.ts'
import { createScriptedChain } from '../scriptedChain.ts'
import type { ScriptedChain } from '../scriptedChain.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** What a real chain has, and the scripted one has not. */
const complete = (value: unknown): unknown => {
  const { logIndex } = Object(value) as { readonly logIndex?: number }
  return logIndex === undefined
    ? { ...Object(value), timestamp: '0x1' }
    : { ...Object(value), logIndex: `0x${logIndex.toString(16)}` }
}
const toHeader = (block: { readonly header: string } | undefined): unknown =>
  block ? complete(JSON.parse(block.header)) : null
const getLogs = (chain: ScriptedChain, from = 0, to = Infinity): RpcLog[] =>
  chain
    .blocks()
    .filter(({ number }) => number >= from && number <= to)
    .flatMap(({ logs = [] }) => logs.map(({ text }) => complete(JSON.parse(text)) as RpcLog))

/** A transport to the hub, and to a node with the same chain. `cut` breaks its connections. */
const connect = (
  chain: ScriptedChain,
): { readonly transport: Transport; readonly cut: () => void; readonly close: () => void } => {
  const blocks = chain.blocks
  const transport = createChainTransport({
    ...createReorgChain(),
    respond: async (method, [first]) => {
      if (method === 'eth_getBlockByHash') return toHeader(blocks().find(({ hash }) => hash === first))
      if (method === 'eth_getBlockByNumber')
        return toHeader(first === 'latest' ? blocks().at(-1) : blocks()[Number(first)])
      const { blockHash, fromBlock, toBlock, address } = first as LogFilter
      const logs = blockHash === undefined ? getLogs(chain, Number(fromBlock), Number(toBlock)) : getLogs(chain)
      return logs.filter((log) => log.address === address && (!blockHash || log.blockHash === blockHash))
    },
  })
  const open = openHub({ chain })
  const ends = new Set<() => void>()
  const subscribe = async (params: readonly unknown[], subscriber: Subscriber): Promise<string> => {
    const client = createClient()
    const leave = (): void => {
      open.hub.leave(client)
      ends.delete(end)
    }
    const end = (): void => {
      leave()
      const text = 'the connection broke'
      subscriber.onEnd(new KeyrailError(text, { kind: 'network', source: 'transport', retryable: true }))
    }
    client.onNotification = ({ params: { result, ...rest } }) => {
      const completed = result === undefined ? rest : { ...rest, result: complete(result) }
      subscriber.onNotification(completed as SocketNotification)
    }
    const result = open.subscribe(client, ...params)
    if (result && 'id' in result) {
      subscriber.unsubscribe = leave
      ends.add(end)
      return result.id
    }
    // With any other code, the SDK would poll from then on, and this test would not notice.
    expect(result?.code).toBe(-32_001)
    throw new KeyrailError('rejected', {
      kind: 'unknown',
      source: 'service',
      retryable: false,
      rpcError: { code: result?.code ?? 0, message: 'rejected' },
    })
  }
  serveSubscriptions(transport, subscribe)
  return {
    transport,
    cut: () => {
      for (const end of ends) end()
    },
    close: open.hub.close,
  }
}

const change = fc.record({
  rollBack: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 8 })),
  /** How many logs each new block has. */
  mine: fc.array(fc.nat(3), { maxLength: 9 }),
  cut: fc.boolean(),
  restart: fc.nat(9),
  ms: fc.nat(1_500),
})

test.each(['blocks', 'logs'] as const)(
  'the SDK yields exactly the chain of %s, over cut connections and restarts',
  async (kind) => {
    let reorgs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 10, maxLength: 40 }), fc.nat(30), async (changes, before) => {
        const chain = createScriptedChain()
        for (let i = 0; i < before; i++) chain.mine([toLog(i % 3)])
        const { transport, cut, close } = connect(chain)
        const request = kind === 'blocks' ? ({ blocks: true } as const) : { logs: { address: toLog(1).address } }
        const applied: { number: number; place: string }[] = []
        const start = (cursor?: string): (() => Promise<string>) => {
          const subscription = createSubscription(transport, request as { blocks: true } | { logs: {} }, { cursor })
          const over = (async () => {
            for await (const event of subscription) {
              if (event.type === 'block')
                applied.push({ number: Number(event.header.number), place: event.header.hash })
              else if (event.type === 'log')
                applied.push({ number: Number(event.log.blockNumber), place: event.log.data })
              else {
                reorgs++
                while ((applied.at(-1)?.number ?? -1) > Number(event.ancestor.number)) applied.pop()
              }
            }
          })()
          return async () => {
            await subscription.return()
            await over
            return subscription.cursor()
          }
        }
        let stop = start()
        await vi.advanceTimersByTimeAsync(10)
        for (const { rollBack, mine, cut: cuts, restart, ms } of changes) {
          if (rollBack > 0) chain.rollBack(rollBack)
          for (const count of mine) chain.mine(Array.from({ length: count }, (_, index) => toLog(index)))
          if (cuts) cut()
          await vi.advanceTimersByTimeAsync(ms)
          if (restart === 0) stop = start(await stop())
        }
        for (let i = 0; i < 10; i++) chain.mine([toLog(1)])
        await vi.advanceTimersByTimeAsync(60_000)
        await stop()
        close()
        const first = before + 1
        const address = toLog(1).address
        expect(applied.map(({ place }) => place)).toEqual(
          kind === 'blocks'
            ? chain
                .blocks()
                .slice(first)
                .map(({ hash }) => hash)
            : getLogs(chain, first)
                .filter((log) => log.address === address)
                .map(({ data }) => data),
        )
      }),
      { numRuns: 100 },
    )
    expect(reorgs).toBeGreaterThan(50)
  },
)
