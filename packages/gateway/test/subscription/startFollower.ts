import { onTestFinished, vi } from 'vitest'
import { followNodes } from '../../src/proxy/subscription/chain/createChainFollower.ts'
import type { FollowOptions } from '../../src/proxy/subscription/chain/createChainFollower.ts'
import type { ChainFollower, ChainStart, ChainStep } from '../../src/proxy/subscription/followedChain.ts'
import { createScriptedNodes } from './scriptedChainNodes.ts'
import type { ScriptedNode, ScriptedNodes } from './scriptedChainNodes.ts'

/** Waits for the next turn of the event loop. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })
/** Lets time pass in short steps, with turns of the event loop in between: the clock would not wait for them. */
export const pass = async (ms: number, stepMs = 100): Promise<void> => {
  for (let passed = 0; passed <= ms; passed += stepMs) {
    vi.advanceTimersByTime(Math.min(stepMs, ms - passed))
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
  }
}

/** What `locate` calls back with. */
export type Located = ChainStart | 'tooOld' | 'unavailable'

/** A follower of two scripted nodes. */
export interface StartedFollower {
  readonly nodes: ScriptedNodes
  readonly first: ScriptedNode
  readonly second: ScriptedNode
  readonly follower: ChainFollower
  readonly steps: ChainStep[]
  readonly faults: string[]
  readonly start: () => void
  /** A cursor with the newest blocks of a node, without this many on top. */
  readonly createCursor: (node: ScriptedNode, without?: number) => { number: number; hashes: string[] }
  readonly locate: (options: Partial<Parameters<ChainFollower['locate']>[0]>) => Located[]
}

/**
 * Starts a follower of nodes with a number of blocks, which has seen the head when it resolves. It needs fake timers, and stops when the test has
 * finished.
 */
export const startFollower = async (options: Partial<FollowOptions> = {}, blocks = 200): Promise<StartedFollower> => {
  const nodes = createScriptedNodes(2, blocks)
  const [first, second] = nodes.list as [ScriptedNode, ScriptedNode]
  const steps: ChainStep[] = []
  const faults: string[] = []
  const follower = followNodes(nodes, { onFault: (reason) => faults.push(reason), ...options })
  onTestFinished(follower.stop)
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
    createCursor: ({ chain }, without = 0) => {
      const known = chain.slice(0, chain.length - without)
      return {
        number: known.at(-1)?.number ?? 0,
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
export const toText = (step: ChainStep): string =>
  step.type === 'block' ? `+${step.block.number}` : `-${step.removed.length} to ${step.ancestor.number}`
/** Steps in few words. */
export const toTexts = (steps: readonly ChainStep[]): string[] => steps.map(toText)
/** Gets the numbers of what `locate` found. @throws If it found nothing. */
export const getStart = ([located]: readonly Located[]): { position: number; blocks: number[]; haveLogs: boolean } => {
  if (located === undefined || typeof located === 'string') throw new Error(`not started: ${located}`)
  return {
    position: located.position.number,
    blocks: located.blocks.map(({ number }) => number),
    haveLogs: located.blocks.every(({ logs }) => logs !== undefined),
  }
}
