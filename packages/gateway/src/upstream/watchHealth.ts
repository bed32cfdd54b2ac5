import { probeUpstream } from './probeUpstream.ts'
import type { ProbeResult } from './probeUpstream.ts'
import type { Upstream } from './createUpstream.ts'

/** Whether an upstream may be used now. */
export interface Health {
  readonly healthy: () => boolean
  /** Told by a call that could not connect: the upstream is skipped until a probe reaches it again. */
  readonly unreachable: () => void
  /** Probes for the first time, then again and again until `stop`. Ends with the first probe. */
  readonly start: () => Promise<void>
  readonly stop: () => void
}

const steadyMs = 5_000
const firstRetryMs = 100
const longestRetryMs = 2_000
const probeTimeoutMs = 5_000
/** One slow probe may be a node at work on something heavy, so it takes this many in a row. */
const failuresToDoubt = 2

/**
 * Keeps one upstream's health: it may be used once a probe has found the right chain there, and until a call or a probe fails
 * to reach it or finds another chain.
 * @param onState - Told of each change.
 */
export const watchHealth = (
  upstream: Upstream,
  options: { chainId: number; timeoutMs: number; onState: (state: 'healthy' | 'unreachable' | 'wrongChain') => void },
): Health => {
  let state: 'unknown' | 'healthy' | 'unreachable' | 'wrongChain' = 'unknown'
  let failures = 0
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const timeoutMs = Math.min(options.timeoutMs, probeTimeoutMs)

  const become = (next: 'healthy' | 'unreachable' | 'wrongChain'): void => {
    if (state === next) return
    state = next
    options.onState(next)
  }
  const learn = (found: ProbeResult): void => {
    failures = found === 'healthy' ? 0 : failures + 1
    if (found !== 'failing') become(found)
    else if (state !== 'healthy' || failures >= failuresToDoubt) become('unreachable')
  }
  const plan = (): void => {
    clearTimeout(timer)
    if (stopped) return
    const waitMs = failures === 0 ? steadyMs : Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs)
    // Probes alone keep no process alive.
    timer = setTimeout(() => void probe(), waitMs).unref()
  }
  const probe = async (): Promise<void> => {
    const found = await probeUpstream(upstream, { chainId: options.chainId, timeoutMs })
    if (stopped) return
    learn(found)
    plan()
  }

  return {
    healthy: () => state === 'healthy',
    unreachable: () => {
      if (state !== 'healthy' || stopped) return
      failures = 1
      become('unreachable')
      plan()
    },
    start: probe,
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}
