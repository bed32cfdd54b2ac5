/** A block, as a subscriber has received it. */
export interface SeenBlock {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
}

/** A log, as a subscriber has received it. */
export interface SeenLog {
  readonly blockHash: string
  readonly logIndex: number
  readonly removed: boolean
}

/** Applies blocks in the order in which they were received. Each must have its parent below it, and none may be received twice in a row. */
export function applyBlocks(seen: readonly SeenBlock[]): SeenBlock[] {
  const chain: SeenBlock[] = []
  for (const block of seen) {
    const newest = chain.at(-1)
    if (newest?.hash === block.hash) throw new Error(`block ${block.number} was received twice`)
    while (chain.length > 0 && (chain.at(-1) as SeenBlock).number >= block.number) chain.pop()
    const parent = chain.at(-1)
    if (parent && parent.hash !== block.parentHash)
      throw new Error(`block ${block.number} was received without its parent`)
    chain.push(block)
  }
  return chain
}

/** Applies logs in the order in which they were received. Only the newest one may be removed. */
export function applyLogs(seen: readonly SeenLog[]): SeenLog[] {
  const logs: SeenLog[] = []
  for (const { blockHash, logIndex, removed } of seen) {
    const newest = logs.at(-1)
    if (!removed) logs.push({ blockHash, logIndex, removed })
    else if (newest?.blockHash === blockHash && newest.logIndex === logIndex) logs.pop()
    else throw new Error(`log ${logIndex} of ${blockHash} was removed out of order`)
  }
  return logs
}
