import { queryUpstream, getQuantity } from './queryUpstream.ts'
import type { GroupMember } from './groupMember.ts'

const intervalMs = 5_000
const maxTimeoutMs = 2_000

/** Compares the heads of several upstreams periodically. */
export interface LagWatch {
  /** Resolves after the first comparison. */
  readonly start: () => Promise<void>
  readonly stop: () => void
  /** The last known head of the upstream at this place in the list; `undefined` until it was asked. */
  readonly head: (index: number) => number | undefined
}

/**
 * Watches which upstreams lag behind. All of them are queried at the same moment: on a fast chain, heads read at different times differ even
 * if no node lags. An upstream that does not respond keeps its last state.
 * @param options.maxLagBlocks - How many blocks an upstream may be behind the highest head.
 */
export const watchLag = (
  members: readonly GroupMember[],
  options: { maxLagBlocks: number; timeoutMs: number },
): LagWatch => {
  const timeoutMs = Math.min(options.timeoutMs, maxTimeoutMs)
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const lastHeads: (number | undefined)[] = []
  const compareHeads = async (): Promise<void> => {
    const heads = await Promise.all(
      members.map(async ({ upstream, health }) =>
        health.isUsable()
          ? getQuantity(await queryUpstream(upstream, { method: 'eth_blockNumber', params: '[]' }, timeoutMs))
          : undefined,
      ),
    )
    if (stopped) return
    const highest = Math.max(...heads.map((head) => head ?? 0))
    for (const [index, { health }] of members.entries()) {
      const head = heads[index]
      if (head === undefined) continue
      lastHeads[index] = head
      health.setLagging(highest - head > options.maxLagBlocks)
    }
    // Probes alone must not keep the process alive.
    timer = setTimeout(() => void compareHeads(), intervalMs).unref()
  }
  return {
    // A single upstream has nothing to lag behind.
    start: async () => {
      if (members.length > 1) await compareHeads()
    },
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
    head: (index) => lastHeads[index],
  }
}
