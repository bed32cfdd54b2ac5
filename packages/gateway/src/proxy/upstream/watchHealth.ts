import { getQuantity, queryUpstream } from './queryUpstream.ts'
import { createBreaker } from '../../lib/createBreaker.ts'
import type { Breaker } from '../../lib/createBreaker.ts'
import type { Upstream } from './createUpstream.ts'

/** A change of an upstream's health, as it is logged. `failing`: its circuit breaker has opened. `recovered`: it has closed again. */
export type HealthState = 'healthy' | 'unreachable' | 'wrongChain' | 'failing' | 'recovered' | 'lagging' | 'caughtUp'

/** An upstream's health. */
export interface Health {
  /** It is reachable and on the right chain. It is used if no other upstream is healthy. */
  readonly isUsable: () => boolean
  /** It is usable, does not lag, and its circuit breaker is closed. */
  readonly isHealthy: () => boolean
  /** Its circuit breaker has been open for long enough to send it a call that may fail, as a trial. */
  readonly isTrialDue: () => boolean
  readonly sent: Breaker['sent']
  readonly succeeded: Breaker['succeeded']
  readonly failed: Breaker['failed']
  /** Sets whether it is too far behind the others. */
  readonly setLagging: (lagging: boolean) => void
  /** Call this when a call could not connect. The upstream is skipped until a probe reaches it again. */
  readonly markUnreachable: () => void
  /** Starts the probes, which run until `stop`. Resolves after the first one. */
  readonly start: () => Promise<void>
  readonly stop: () => void
}

/** What a probe found. `unreachable`: nothing listens there. `failing`: something does, but sent no valid response. */
type ProbeResult = 'healthy' | 'unreachable' | 'failing' | 'wrongChain'

const intervalMs = 5_000
const firstRetryMs = 100
const maxRetryMs = 2_000
const maxProbeTimeoutMs = 5_000
/** Reads the state, as callers do: a node that has lost its disk still knows its chain id. */
export const cheapRead = { method: 'eth_getBalance', params: `["0x${'0'.repeat(40)}","latest"]` }
export const cheapReadTimeoutMs = 2_000
/** One slow probe may be a node that is busy with an expensive call, so it takes this many in a row. */
const maxFailedProbes = 2

/**
 * Watches one upstream's health. It is usable once a probe has found the right chain there, and until a call or a probe fails to reach it or
 * finds another chain.
 * @param options.onState - Called on each change.
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
  let confirming = false
  const timeoutMs = Math.min(options.timeoutMs, maxProbeTimeoutMs)
  const breaker = createBreaker({
    onChange: (closed) => options.onState(closed ? 'recovered' : 'failing'),
    onDoubt: (confirm) => void sendCheapRead(confirm),
  })
  const sendCheapRead = async (confirm: (works: boolean) => void): Promise<void> => {
    if (confirming || stopped) return
    confirming = true
    const result = await queryUpstream(upstream, cheapRead, Math.min(timeoutMs, cheapReadTimeoutMs))
    confirming = false
    if (!stopped) confirm(typeof result !== 'string')
  }

  const setState = (next: 'healthy' | 'unreachable' | 'wrongChain'): void => {
    if (state === next) return
    state = next
    options.onState(next)
  }
  const handleProbe = (result: ProbeResult): void => {
    failures = result === 'healthy' ? 0 : failures + 1
    if (result !== 'failing') setState(result)
    else if (state !== 'healthy' || failures >= maxFailedProbes) setState('unreachable')
  }
  const scheduleProbe = (): void => {
    clearTimeout(timer)
    if (stopped) return
    const waitMs = failures === 0 ? intervalMs : Math.min(firstRetryMs * 2 ** (failures - 1), maxRetryMs)
    // Probes alone must not keep the process alive.
    timer = setTimeout(() => void probe(), waitMs).unref()
  }
  const probe = async (): Promise<void> => {
    const result = await checkChainId(upstream, { chainId: options.chainId, timeoutMs })
    if (stopped) return
    handleProbe(result)
    scheduleProbe()
  }

  return {
    isUsable: () => state === 'healthy',
    isHealthy: () => state === 'healthy' && !lagging && breaker.closed(),
    isTrialDue: () => state === 'healthy' && !lagging && breaker.trialDue(),
    sent: breaker.sent,
    succeeded: breaker.succeeded,
    failed: breaker.failed,
    setLagging: (now) => {
      if (lagging === now) return
      lagging = now
      options.onState(now ? 'lagging' : 'caughtUp')
    },
    markUnreachable: () => {
      if (state !== 'healthy' || stopped) return
      failures = 1
      setState('unreachable')
      scheduleProbe()
    },
    start: probe,
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}

const checkChainId = async (
  upstream: Upstream,
  { chainId, timeoutMs }: { chainId: number; timeoutMs: number },
): Promise<ProbeResult> => {
  const result = await queryUpstream(upstream, { method: 'eth_chainId', params: '[]' }, timeoutMs)
  if (typeof result === 'string') return result
  const actual = getQuantity(result)
  if (actual === undefined) return 'failing'
  return actual === chainId ? 'healthy' : 'wrongChain'
}
