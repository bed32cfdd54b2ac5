import { queryUpstream, quantityOf } from './queryUpstream.ts'
import type { GroupMember } from './groupMember.ts'

const roundMs = 5_000
const longestAskMs = 2_000

/** Compares the heads of several upstreams, again and again. */
export interface LagWatch {
  /** The first comparison; ends with it. */
  readonly start: () => Promise<void>
  readonly stop: () => void
}

/**
 * Keeps watch over which upstreams are behind. All are asked at the same moment: heads heard at different times would differ on a
 * quick chain without any of them being behind. Of an upstream that does not answer, what was known stays.
 * @param options.maxLagBlocks - How far one may be behind the highest, in blocks.
 */
export const watchLag = (
  members: readonly GroupMember[],
  options: { maxLagBlocks: number; timeoutMs: number },
): LagWatch => {
  const timeoutMs = Math.min(options.timeoutMs, longestAskMs)
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const round = async (): Promise<void> => {
    const heads = await Promise.all(
      members.map(async ({ upstream, health }) =>
        health.healthy()
          ? quantityOf(await queryUpstream(upstream, { method: 'eth_blockNumber', params: '[]' }, timeoutMs))
          : undefined,
      ),
    )
    if (stopped) return
    const highest = Math.max(...heads.map((head) => head ?? 0))
    for (const [index, { health }] of members.entries()) {
      const head = heads[index]
      if (head !== undefined) health.setLagging(highest - head > options.maxLagBlocks)
    }
    // Probes alone keep no process alive.
    timer = setTimeout(() => void round(), roundMs).unref()
  }
  return {
    // One alone is behind nobody.
    start: async () => {
      if (members.length > 1) await round()
    },
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}
