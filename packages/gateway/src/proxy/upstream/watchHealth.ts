import { queryUpstream } from './queryUpstream.ts'
import { createBreaker } from '../../lib/createBreaker.ts'
import type { Breaker } from '../../lib/createBreaker.ts'
import { probeUpstream } from './probeUpstream.ts'
import type { ProbeResult } from './probeUpstream.ts'
import type { Upstream } from './createUpstream.ts'

/** What the log is told of an upstream's health. `failing`: its answers speak against it. `recovered`: they do no longer. */
export type HealthState = 'healthy' | 'unreachable' | 'wrongChain' | 'failing' | 'recovered' | 'lagging' | 'caughtUp'

/** Whether an upstream may be used now. */
export interface Health {
  /** It can be reached and is of the right chain: it may be asked where there is nobody better. */
  readonly healthy: () => boolean
  /** Nothing speaks against asking it first. */
  readonly sound: () => boolean
  /** Whether the next call that may fail can be sent as a trial, because its circuit breaker has been open for long enough. */
  readonly trialDue: () => boolean
  readonly sent: Breaker['sent']
  readonly succeeded: Breaker['succeeded']
  readonly failed: Breaker['failed']
  /** Told whether it is too far behind the others. */
  readonly setLagging: (lagging: boolean) => void
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
/** About the state, as the calls of callers are: a node that has lost its disk still knows its chain id. */
const lightRead = { method: 'eth_getBalance', params: `["0x${'0'.repeat(40)}","latest"]` }
const lightReadMs = 2_000
/** One slow probe may be a node at work on something heavy, so it takes this many in a row. */
const failuresToDoubt = 2

/**
 * Keeps one upstream's health: it may be used once a probe has found the right chain there, and until a call or a probe fails
 * to reach it or finds another chain.
 * @param onState - Told of each change.
 */
export const watchHealth = (
  upstream: Upstream,
  options: { chainId: number; timeoutMs: number; onState: (state: HealthState) => void },
): Health => {
  let state: 'unknown' | 'healthy' | 'unreachable' | 'wrongChain' = 'unknown'
  let failures = 0
  let stopped = false
  let lagging = false
  let timer: NodeJS.Timeout | undefined
  let asking = false
  const timeoutMs = Math.min(options.timeoutMs, probeTimeoutMs)
  const breaker = createBreaker({
    onChange: (closed) => options.onState(closed ? 'recovered' : 'failing'),
    onDoubt: (confirm) => void askForAll(confirm),
  })
  const askForAll = async (confirm: (works: boolean) => void): Promise<void> => {
    if (asking || stopped) return
    asking = true
    const end = await queryUpstream(upstream, lightRead, Math.min(timeoutMs, lightReadMs))
    asking = false
    if (!stopped) confirm(typeof end !== 'string')
  }

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
    sound: () => state === 'healthy' && !lagging && breaker.closed(),
    trialDue: () => state === 'healthy' && !lagging && breaker.trialDue(),
    sent: breaker.sent,
    succeeded: breaker.succeeded,
    failed: breaker.failed,
    setLagging: (now) => {
      if (lagging === now) return
      lagging = now
      options.onState(now ? 'lagging' : 'caughtUp')
    },
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
