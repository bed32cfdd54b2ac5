import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { followNodes } from '../../src/proxy/subscription/chain/createChainFollower.ts'
import type { FollowOptions } from '../../src/proxy/subscription/chain/createChainFollower.ts'
import type { ChainFollower, ChainStart, ChainStep } from '../../src/proxy/subscription/followedChain.ts'
import { createScriptedNodes } from './scriptedChainNodes.ts'
import type { ScriptedNode, ScriptedNodes } from './scriptedChainNodes.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })
/** Lets time pass in short steps, with turns of the event loop in between: the clock would not wait for them. */
const pass = async (ms: number): Promise<void> => {
  for (let passed = 0; passed <= ms; passed += 100) {
    vi.advanceTimersByTime(Math.min(100, ms - passed))
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
  }
}

type Located = ChainStart | 'tooOld' | 'unavailable'

interface Started {
  readonly nodes: ScriptedNodes
  readonly first: ScriptedNode
  readonly second: ScriptedNode
  readonly follower: ChainFollower
  readonly steps: ChainStep[]
  readonly faults: string[]
  readonly start: () => void
  /** A cursor with the newest blocks of a node, without so many on top. */
  readonly cursorOf: (node: ScriptedNode, without?: number) => { number: number; hashes: string[] }
  readonly locate: (options: Partial<Parameters<ChainFollower['locate']>[0]>) => Located[]
}

let running: ChainFollower | undefined
afterEach(() => running?.stop())

/** Creates nodes with 200 blocks, whose followers have seen the head. */
const startFollower = async (options: Partial<FollowOptions> = {}, blocks = 200): Promise<Started> => {
  const nodes = createScriptedNodes(2, blocks)
  const [first, second] = nodes.list as [ScriptedNode, ScriptedNode]
  const steps: ChainStep[] = []
  const faults: string[] = []
  const follower = followNodes(nodes, { onFault: (reason) => faults.push(reason), ...options })
  running = follower
  const start = (): void => follower.start((step) => steps.push(step))
  start()
  await pass(0)
  return {
    nodes,
    first,
    second,
    follower,
    steps,
    faults,
    start,
    cursorOf: ({ chain }, without = 0) => {
      const known = chain.slice(0, chain.length - without)
      return {
        number: known.length - 1,
        hashes: known
          .map(({ hash }) => hash)
          .reverse()
          .slice(0, 256),
      }
    },
    locate: ({ cursor, logs = false }) => {
      const results: Located[] = []
      follower.locate({ cursor, logs }, (result) => results.push(result))
      return results
    },
  }
}

/** A step in few words: `+200` for a block, `-2 to 199` for a reorganization. */
const toText = (step: ChainStep): string =>
  step.type === 'block' ? `+${step.block.number}` : `-${step.removed.length} to ${step.ancestor.number}`
const toTexts = (steps: readonly ChainStep[]): string[] => steps.map(toText)
const startOf = ([located]: readonly Located[]): { position: number; blocks: number[]; haveLogs: boolean } => {
  if (located === undefined || typeof located === 'string') throw new Error(`not started: ${located}`)
  return {
    position: located.position.number,
    blocks: located.blocks.map(({ number }) => number),
    haveLogs: located.blocks.every(({ logs }) => logs !== undefined),
  }
}

describe('steps', () => {
  test('the head at the start is no step; each new block is one, also those between two reads', async () => {
    const { first, steps } = await startFollower()
    await pass(5_000)
    expect(steps).toEqual([])
    first.mine(20)
    await pass(5_000)
    expect(toTexts(steps)).toEqual(Array.from({ length: 20 }, (_, index) => `+${200 + index}`))
  })

  test('a branch is followed down to the ancestor, and back again: A, B, A', async () => {
    const { first, steps } = await startFollower()
    const branch = [...first.chain]
    first.reorg(3, 5)
    await pass(5_000)
    expect(toTexts(steps)).toEqual(['-3 to 196', '+197', '+198', '+199', '+200', '+201'])
    const other = [...first.chain]
    first.chain = branch
    first.mine(3)
    await pass(5_000)
    first.chain = other
    first.mine(4)
    await pass(5_000)
    expect(toTexts(steps.slice(6)).join(' ')).toBe(
      ['-5 to 196 +197 +198 +199 +200 +201 +202', '-6 to 196 +197 +198 +199 +200 +201 +202 +203 +204 +205'].join(' '),
    )
    const hashes = steps.flatMap((step) => (step.type === 'block' ? [step.block.hash] : []))
    expect(new Set(hashes).size).toBeLessThan(hashes.length)
  })

  test('removed blocks are those that were emitted, newest first', async () => {
    const { first, steps } = await startFollower()
    first.mine(2)
    await pass(5_000)
    const emitted = steps.flatMap((step) => (step.type === 'block' ? [step.block] : []))
    first.reorg(2, 1)
    await pass(5_000)
    expect(steps.slice(2).find(({ type }) => type === 'reorg')).toEqual({
      type: 'reorg',
      ancestor: { number: 199, hash: first.chain[199]?.hash },
      removed: emitted.toReversed(),
    })
  })

  test('each step has a turn of its own', async () => {
    const { first, follower } = await startFollower()
    follower.stop()
    let turn = 0
    const turns: number[] = []
    follower.start(() => turns.push(turn))
    await pass(0)
    first.mine(4)
    vi.advanceTimersByTime(2_000)
    for (; turn < 50; turn += 1) await nextTurn()
    expect(turns).toHaveLength(4)
    expect(new Set(turns).size).toBe(4)
  })

  test('nothing is emitted after the end, and a new start begins at the head', async () => {
    const { first, follower, steps, start } = await startFollower()
    first.mine(1)
    follower.stop()
    await pass(5_000)
    const calls = first.calls.length
    await pass(60_000)
    expect([steps, first.calls.length]).toEqual([[], calls])
    start()
    start()
    await pass(0)
    first.mine(1)
    await pass(5_000)
    expect(toTexts(steps)).toEqual(['+201'])
  })

  test('a listener that stops the follower gets no more steps', async () => {
    const { first, follower } = await startFollower()
    follower.stop()
    const steps: string[] = []
    follower.start((step) => {
      steps.push(toText(step))
      follower.stop()
    })
    await pass(0)
    first.mine(5)
    await pass(5_000)
    expect(steps).toEqual(['+200'])
  })

  test('a node with a new head wakes the follower', async () => {
    let wake = (): void => {}
    let isListening = false
    const onHead = (listener: () => void): (() => void) => {
      wake = listener
      isListening = true
      return () => {
        isListening = false
      }
    }
    const { first, follower, steps } = await startFollower({ onHead })
    first.mine(1)
    await nextTurn()
    expect(steps).toEqual([])
    wake()
    await pass(0)
    expect(toTexts(steps)).toEqual(['+200'])
    follower.stop()
    expect(isListening).toBe(false)
  })
})

describe('failover', () => {
  test('if the followed node fails, another one is followed at once', async () => {
    const { first, second, steps, faults } = await startFollower()
    second.chain = [...first.chain]
    second.mine(1)
    first.isDown = true
    await pass(2_500)
    expect([toTexts(steps), faults]).toEqual([['+200'], []])
  })

  test('a lagging node is waited for as long as it catches up', async () => {
    const { first, second, steps } = await startFollower()
    first.mine(10)
    await pass(5_000)
    steps.length = 0
    const { chain } = first
    first.isDown = true
    for (const block of chain.slice(200)) {
      await pass(3_000)
      second.chain.push(block)
    }
    await pass(5_000)
    expect(steps).toEqual([])
    second.mine(1)
    await pass(5_000)
    expect(toTexts(steps)).toEqual(['+210'])
  })

  test('a node that stays lower is left for one that has the head', async () => {
    const { nodes, first, second, steps } = await startFollower()
    first.mine(3)
    await pass(5_000)
    steps.length = 0
    second.chain = [...first.chain]
    first.reorg(2, 0)
    await pass(60_000)
    expect([toTexts(steps), nodes.current()]).toEqual([[], second])
  })

  test('if no node has the blocks any more, the chain has become shorter', async () => {
    const { first, second, steps } = await startFollower()
    first.reorg(2, 0)
    second.isDown = true
    await pass(3_000)
    expect(steps).toEqual([])
    await pass(17_000)
    expect(toTexts(steps)).toEqual(['-2 to 197'])
    first.mine(1)
    await pass(5_000)
    expect(toTexts(steps)).toEqual(['-2 to 197', '+198'])
  })

  test('if both nodes are lower at different heights, the follower does not wait for ever', async () => {
    const { nodes, first, second, steps } = await startFollower()
    first.reorg(2, 0)
    second.reorg(3, 0)
    await pass(120_000)
    expect(steps[0]?.type).toBe('reorg')
    const start = new Promise<Located>((resolve) => {
      running?.locate({ cursor: undefined, logs: false }, resolve)
    })
    expect(await start).toMatchObject({ position: { number: nodes.current().chain.length - 1 } })
  })

  test('without a node for a minute, subscriptions are ended; later ones start at the head', async () => {
    const { first, second, faults, steps, locate } = await startFollower()
    for (const node of [first, second]) node.isDown = true
    await pass(58_000)
    expect(faults).toEqual([])
    await pass(8_000)
    expect(faults).toEqual(['nodeUnavailable'])
    await pass(64_000)
    expect(faults).toEqual(['nodeUnavailable', 'nodeUnavailable'])
    first.mine(500)
    second.chain = [...first.chain]
    for (const node of [first, second]) node.isDown = false
    await pass(10_000)
    expect(startOf(locate({}))).toMatchObject({ position: 699 })
    expect(steps).toEqual([])
  })

  test('logs that no node sends end subscriptions, too', async () => {
    const { first, second, faults, locate, steps } = await startFollower()
    locate({ logs: true })
    for (const node of [first, second]) node.lacks.add('eth_getLogs')
    first.mine(1)
    second.chain = [...first.chain]
    await pass(70_000)
    expect([steps, faults]).toEqual([[], ['nodeUnavailable']])
  })

  test('a reorganization below the ring ends subscriptions; later ones start at the new head', async () => {
    const { first, faults, steps, locate, cursorOf } = await startFollower()
    locate({ cursor: cursorOf(first, 120) })
    await pass(0)
    first.mine(5)
    await pass(5_000)
    steps.length = 0
    first.reorg(140, 141)
    await pass(5_000)
    expect([steps, faults]).toEqual([[], ['reorgTooDeep']])
    expect(startOf(locate({}))).toMatchObject({ position: 205 })
    first.mine(1)
    await pass(5_000)
    expect(toTexts(steps)).toEqual(['+206'])
  })

  test('a reorganization of 16 blocks soon after the start has its ancestor', async () => {
    const { first, faults, steps } = await startFollower()
    first.reorg(16, 17)
    await pass(5_000)
    expect([toTexts(steps)[0], faults]).toEqual(['-16 to 183', []])
  })

  test('a chain that starts again from its first block ends subscriptions', async () => {
    const { first, second, faults, locate } = await startFollower()
    second.isDown = true
    first.reorg(199, 3)
    await pass(60_000)
    expect(faults).toEqual(['reorgTooDeep'])
    expect(startOf(locate({}))).toMatchObject({ position: 3 })
  })
})

describe('locate', () => {
  test('at the head, it calls back in the same turn', async () => {
    const { locate } = await startFollower()
    expect(locate({}).map((each) => each)).toEqual([{ position: expect.objectContaining({ number: 199 }), blocks: [] }])
  })

  test('a cursor starts at the newest common block, with the blocks above it', async () => {
    const { first, locate, cursorOf } = await startFollower()
    const old = cursorOf(first)
    first.reorg(2, 4)
    await pass(5_000)
    expect(startOf(locate({ cursor: old }))).toMatchObject({ position: 197, blocks: [198, 199, 200, 201] })
  })

  test('the next step continues what it found, also if it is called for in a step', async () => {
    const { first, follower } = await startFollower()
    follower.stop()
    const order: string[] = []
    follower.start((step) => {
      order.push(toText(step))
      follower.locate({ cursor: undefined, logs: false }, (start) => order.push(`start ${startOf([start]).position}`))
    })
    await pass(0)
    first.mine(2)
    await pass(5_000)
    first.reorg(1, 0)
    first.mine(1)
    await pass(5_000)
    expect(order.join(', ')).toBe('+200, start 200, +201, start 201, -1 to 200, start 200, +201, start 201')
  })

  test('blocks have logs from then on, until they are released', async () => {
    const { first, follower, steps, locate, cursorOf } = await startFollower()
    const getLogs = (): number => first.calls.filter(({ method }) => method === 'eth_getLogs').length
    first.mine(1)
    await pass(5_000)
    expect(getLogs()).toBe(0)
    const results = locate({ cursor: cursorOf(first, 3), logs: true })
    await pass(0)
    expect(startOf(results)).toEqual({ position: 197, blocks: [198, 199, 200], haveLogs: true })
    expect(getLogs()).toBe(3)
    first.mine(1)
    await pass(5_000)
    follower.releaseLogs()
    first.mine(1)
    await pass(5_000)
    expect(steps.map((step) => step.type === 'block' && step.block.logs !== undefined)).toEqual([false, true, false])
    expect(getLogs()).toBe(4)
    // The logs of a block are read once.
    const again = locate({ cursor: cursorOf(first, 5), logs: true })
    await pass(0)
    expect(startOf(again)).toMatchObject({ position: 197, haveLogs: true })
    expect(getLogs()).toBe(5)
  })

  test('a release does not take the logs of a subscription that is about to start', async () => {
    const { first, follower, steps, locate, cursorOf } = await startFollower()
    const results = locate({ cursor: cursorOf(first, 3), logs: true })
    follower.releaseLogs()
    await pass(0)
    expect(startOf(results)).toMatchObject({ haveLogs: true })
    first.mine(1)
    await pass(5_000)
    expect(steps).toMatchObject([{ block: { logs: expect.any(Array) as unknown } }])
  })

  test('a block that was read before logs were needed gets them before it is emitted', async () => {
    const { first, follower } = await startFollower()
    follower.stop()
    const steps: ChainStep[] = []
    follower.start((step) => {
      steps.push(step)
      // After the next block was read, and before it is emitted.
      if (steps.length === 1) setImmediate(() => follower.locate({ cursor: undefined, logs: true }, () => {}))
    })
    await pass(0)
    first.mine(3)
    await pass(5_000)
    expect(steps.map((step) => step.type === 'block' && step.block.logs !== undefined)).toEqual([false, true, true])
  })

  test('blocks below the ring are loaded, down to 128 below the head', async () => {
    const { first, second, locate, cursorOf } = await startFollower()
    const results = [locate({ cursor: cursorOf(first, 128) }), locate({ cursor: cursorOf(first, 100) })]
    await pass(0)
    expect(results.map(startOf).map(({ position, blocks }) => [position, blocks.length])).toEqual([
      [71, 128],
      [99, 100],
    ])
    const numbers = first.calls.filter(({ params }) => params !== '["latest",false]').map(({ params }) => params)
    expect([numbers.length, new Set(numbers).size]).toEqual([128, 128])
    expect(second.calls).toEqual([])
  })

  test('a cursor without a common block among the last 128 is too old', async () => {
    const { first, locate, cursorOf } = await startFollower()
    const calls = first.calls.length
    expect(locate({ cursor: cursorOf(first, 129) })).toEqual(['tooOld'])
    expect(first.calls.length).toBe(calls)
    const unknown = locate({ cursor: { number: 190, hashes: [`0x${'f'.repeat(64)}`] } })
    await pass(0)
    expect(unknown).toEqual(['tooOld'])
  })

  test('on a short chain, it goes down to the first block', async () => {
    const { first, locate, cursorOf } = await startFollower({}, 40)
    const results = locate({ cursor: cursorOf(first, 39) })
    const unknown = locate({ cursor: { number: 10, hashes: [`0x${'f'.repeat(64)}`] } })
    await pass(0)
    expect(startOf(results)).toMatchObject({ position: 0 })
    expect(unknown).toEqual(['tooOld'])
  })

  test('a client that is ahead is waited for, and after two block times it gets the newest common block', async () => {
    const { first, second, locate, cursorOf } = await startFollower()
    second.mine(2)
    const ahead = locate({ cursor: cursorOf(second) })
    await pass(1_000)
    expect(ahead).toEqual([])
    first.chain = [...second.chain]
    await pass(2_000)
    expect(startOf(ahead)).toMatchObject({ position: 201, blocks: [] })
    second.mine(2)
    const lost = locate({ cursor: cursorOf(second) })
    await pass(8_000)
    expect(startOf(lost)).toMatchObject({ position: 201, blocks: [] })
  })

  test('what was loaded for a chain that has changed is planned again', async () => {
    const { first, locate, cursorOf } = await startFollower()
    const cursor = cursorOf(first, 4)
    let isReorganized = false
    first.before = (method) => {
      if (method !== 'eth_getLogs' || isReorganized) return
      isReorganized = true
      first.reorg(2, 3)
    }
    const results = locate({ cursor, logs: true })
    await pass(5_000)
    expect(startOf(results)).toMatchObject({ position: 195, haveLogs: true })
  })

  test('without a node in time, it is unavailable', async () => {
    const { first, second, locate, cursorOf } = await startFollower()
    for (const node of [first, second]) node.isDown = true
    const results = locate({ cursor: cursorOf(first, 100) })
    const atHead = locate({})
    await pass(9_800)
    expect([results, startOf(atHead).position]).toEqual([[], 199])
    await pass(300)
    expect(results).toEqual(['unavailable'])
  })

  test('before the first block it waits, and the end makes it unavailable', async () => {
    const { first, follower, start, locate } = await startFollower()
    follower.stop()
    first.isDown = true
    const early = locate({})
    start()
    expect(early).toEqual([])
    await pass(100)
    expect(startOf(early)).toMatchObject({ position: 199 })
    follower.stop()
    const late = locate({})
    follower.stop()
    expect(late).toEqual(['unavailable'])
    await pass(20_000)
    expect(late).toEqual(['unavailable'])
  })
})
