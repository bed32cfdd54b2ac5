import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { followNodes } from '../../src/proxy/subscription/chain/createChainFollower.ts'
import { createChainConsumer } from './chainConsumer.ts'
import type { ChainConsumer } from './chainConsumer.ts'
import { createScriptedNodes } from './scriptedChainNodes.ts'
import type { ScriptedNode } from './scriptedChainNodes.ts'
import { pass } from './startFollower.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const node = fc.nat(1)
const depth = fc.integer({ min: 0, max: 6 })
/** What happens between two pauses. */
const action = fc.oneof(
  fc.record({ type: fc.constant('mine' as const), node, count: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ type: fc.constant('reorg' as const), node, depth, count: fc.integer({ min: 0, max: 7 }) }),
  fc.record({ type: fc.constant('copy' as const), node }),
  fc.record({ type: fc.constant('swap' as const), node }),
  fc.record({ type: fc.constant('toggle' as const), node }),
  fc.record({ type: fc.constant('late' as const), node, count: fc.nat(3) }),
  fc.record({ type: fc.constant('subscribe' as const), node, depth: fc.nat(140), logs: fc.boolean() }),
  fc.record({ type: fc.constant('release' as const), node }),
)
type Action = Parameters<Parameters<typeof action.map>[0]>[0]
const script = fc.array(fc.tuple(action, fc.constantFrom(0, 5, 300, 2_500)), { minLength: 3, maxLength: 25 })

test('every consumer ends with exactly the chain of the followed node, through random forks, failovers and starts', async () => {
  let reorgs = 0
  let starts = 0
  await fc.assert(
    fc.asyncProperty(script, async (steps) => {
      const nodes = createScriptedNodes(2, 200)
      const faults: string[] = []
      let consumers: { readonly consumer: ChainConsumer; readonly logs: boolean }[] = []
      const follower = followNodes(nodes, {
        onFault: (reason) => {
          faults.push(reason)
          consumers = []
        },
      })
      follower.start((step) => {
        if (step.type === 'reorg') reorgs += 1
        for (const { consumer } of consumers) consumer.apply(step)
      })
      const subscribe = (hashes: readonly string[] | undefined, number: number, logs: boolean): Promise<string> =>
        new Promise((resolve) => {
          const cursor = hashes && { number, hashes }
          follower.locate({ cursor, logs }, (start) => {
            resolve(typeof start === 'string' ? start : 'started')
            if (typeof start === 'string') return
            starts += 1
            if (hashes !== undefined) expect(hashes).toContain(start.position.hash)
            consumers.push({ consumer: createChainConsumer(start, { logs }), logs })
          })
        })
      const cursorAt = (of: ScriptedNode, below: number): readonly string[] =>
        of.chain
          .slice(0, of.chain.length - below)
          .map(({ hash }) => hash)
          .reverse()
          .slice(0, 256)

      // It loads all blocks that a reorganization may need.
      await pass(10)
      const first = subscribe(cursorAt(nodes.current(), 120), 79, false)
      await pass(100)
      expect(await first).toBe('started')
      const old = [nodes.list[0]?.chain ?? []]
      const run = (next: Action): void => {
        const of = nodes.list[next.node] as ScriptedNode
        const peer = nodes.list[1 - next.node] as ScriptedNode
        if (next.type === 'mine') of.mine(next.count)
        else if (next.type === 'reorg') of.reorg(next.depth, next.count)
        else if (next.type === 'copy') of.chain = [...peer.chain]
        else if (next.type === 'swap') {
          // A → B → A: a branch that was left becomes the chain again.
          of.chain = [...(old.at(-1) ?? of.chain)]
        } else if (next.type === 'toggle') of.isDown = !of.isDown
        else if (next.type === 'late') of.lateLogs = next.count
        else if (next.type === 'release') {
          consumers = consumers.filter(({ logs }) => !logs)
          follower.releaseLogs()
        } else void subscribe(cursorAt(of, next.depth), of.chain.length - 1 - next.depth, next.logs)
        if (next.type === 'mine' || next.type === 'reorg') old.unshift([...of.chain])
      }
      for (const [next, waitMs] of steps) {
        run(next)
        await pass(waitMs)
      }
      for (const each of nodes.list) each.isDown = false
      await pass(90_000, 500)
      const { chain } = nodes.current()
      for (const { consumer, logs } of consumers) {
        const seen = consumer.chain()
        const from = seen[0]?.number ?? 0
        const expected = chain.slice(from)
        expect(seen.map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash))
        // The logs of the block at which it started were not delivered to it.
        if (logs) expect(seen.slice(1).map((block) => block.logs)).toEqual(expected.slice(1).map((block) => block.logs))
      }
      expect(faults.filter((fault) => fault !== 'nodeUnavailable')).toEqual([])
      follower.stop()
    }),
    { numRuns: 200 },
  )
  expect(reorgs).toBeGreaterThan(20)
  expect(starts).toBeGreaterThan(100)
})
