import type { UpstreamView } from '@keyrail/gateway'

const minRatio = 2
/** Between fast nodes, a difference that nobody notices is no problem. */
const minDifferenceMs = 25

/**
 * How many times as long as the fastest other node of its network a node takes; `undefined` if it is not slow, or has no other node to compare it
 * with.
 */
export function getSlowness(
  { network, name, latencyMs }: UpstreamView,
  all: readonly UpstreamView[],
): number | undefined {
  const others = all.flatMap((one) =>
    one.network === network && one.name !== name && one.latencyMs !== null ? [one.latencyMs] : [],
  )
  if (latencyMs === null || others.length === 0) return undefined
  const fastest = Math.max(1, Math.min(...others))
  return latencyMs >= minRatio * fastest && latencyMs - fastest >= minDifferenceMs ? latencyMs / fastest : undefined
}
