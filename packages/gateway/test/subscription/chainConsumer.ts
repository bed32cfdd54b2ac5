import { expect } from 'vitest'
import type { ChainStart, ChainStep, FollowedBlock } from '../../src/proxy/subscription/followedChain.ts'

/** A block as a consumer remembers it. */
interface ConsumedBlock {
  readonly number: number
  readonly hash: string
  readonly logs: readonly string[] | undefined
}

/** Applies steps, and fails if one does not continue what was there. */
export interface ChainConsumer {
  /** From the position where it started, or the lowest ancestor since. */
  readonly chain: () => readonly ConsumedBlock[]
  readonly apply: (step: ChainStep) => void
}

/** Creates a consumer that starts where `locate` says. */
export const createChainConsumer = (start: ChainStart, { logs }: { logs: boolean }): ChainConsumer => {
  const chain: ConsumedBlock[] = [{ ...start.position, logs: undefined }]
  const add = (block: FollowedBlock): void => {
    const { number, hash, parentHash } = block
    expect({ number: number - 1, hash: parentHash }).toEqual({
      number: chain.at(-1)?.number,
      hash: chain.at(-1)?.hash,
    })
    if (logs) expect(block.logs).toBeDefined()
    chain.push({ number, hash, logs: logs ? block.logs?.map(({ text }) => text) : undefined })
  }
  for (const block of start.blocks) add(block)
  return {
    chain: () => chain,
    apply: (step) => {
      if (step.type === 'block') {
        add(step.block)
        return
      }
      const { ancestor, removed } = step
      expect(removed.length).toBeGreaterThan(0)
      expect(removed.at(-1)?.parentHash).toBe(ancestor.hash)
      for (const { hash, number } of removed) if (chain.length > 0) expect(chain.pop()).toMatchObject({ hash, number })
      if (chain.length === 0) chain.push({ ...ancestor, logs: undefined })
      expect(chain.at(-1)).toMatchObject(ancestor)
    },
  }
}
