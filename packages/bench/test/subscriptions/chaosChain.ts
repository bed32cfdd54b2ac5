import { createBlock } from '@keyrail/gateway/test/subscription/scriptedChainNodes.ts'
import type { ScriptedBlock } from '@keyrail/gateway/test/subscription/scriptedChainNodes.ts'

/** A log of a chain, as far as filters and comparisons need it. */
export interface ChaosLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly text: string
}

/** A block of a chain, with its logs. */
export interface ChaosBlock extends Omit<ScriptedBlock, 'logs'> {
  readonly logs: readonly ChaosLog[]
}

/** The one chain that all nodes follow, each some steps behind. */
export interface ChaosChain {
  /** The canonical chain from block 0. A new array after each change. */
  readonly blocks: () => readonly ChaosBlock[]
  readonly mine: (count: number) => void | Promise<void>
  /** Replaces the newest blocks with this many others. */
  readonly reorg: (depth: number, count: number) => void | Promise<void>
  /** Makes the branch that the last reorganization replaced canonical again, with more blocks on top. Nothing happens without one. */
  readonly restore: () => void | Promise<void>
}

/** The contracts of the chain: the first emit most of the logs. */
export const contracts = Array.from({ length: 8 }, (_, index) => `0x${`c${index}`.repeat(20)}`)

/** Creates a chain. @param random - Numbers from 0 to 1. */
export const createChaosChain = (random: () => number): ChaosChain => {
  let blocks: readonly ChaosBlock[] = []
  let replaced: readonly ChaosBlock[] | undefined

  const add = (): void => {
    const addresses = contracts.slice(Math.floor(random() ** 2 * contracts.length))
    const parent = blocks.at(-1) as ScriptedBlock | undefined
    const logCount = Math.floor(random() * 5)
    const block = createBlock(parent, { addresses, logCount, timestamp: Math.floor(Date.now() / 1_000) })
    const logs = block.logs.map((text): ChaosLog => ({ ...(JSON.parse(text) as ChaosLog), text }))
    blocks = [...blocks, { ...block, logs }]
  }
  const mine = (count: number): void => {
    for (let added = 0; added < count; added += 1) add()
  }
  mine(3)
  return {
    blocks: () => blocks,
    mine,
    reorg: (depth, count) => {
      replaced = blocks
      blocks = blocks.slice(0, -depth)
      mine(count)
    },
    restore: () => {
      if (replaced === undefined) return
      const missing = blocks.length - replaced.length
      blocks = replaced
      replaced = undefined
      mine(Math.max(0, missing) + 1)
    },
  }
}

/** A filter of `eth_getLogs` and of subscriptions. */
export interface ChaosFilter {
  readonly address?: string | readonly string[]
  readonly topics?: readonly (string | readonly string[] | null)[]
}

/** Whether a log matches a filter. */
export const isMatch = ({ address, topics }: ChaosLog, filter: ChaosFilter): boolean => {
  const includes = (wanted: string | readonly string[] | null | undefined, value: string | undefined): boolean =>
    wanted === undefined || wanted === null || wanted.length === 0 || [wanted].flat().includes(value ?? '')
  return (
    includes(filter.address, address) && (filter.topics ?? []).every((wanted, index) => includes(wanted, topics[index]))
  )
}
