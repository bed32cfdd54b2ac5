import { failureRules } from '../failureRules.ts'
import { getQuantity, queryUpstream } from '../queryUpstream.ts'
import { readErrorKind } from '../classifyFailure.ts'
import { createBreaker } from '../../../lib/createBreaker.ts'
import type { Breaker } from '../../../lib/createBreaker.ts'
import type { SharedCheck, SharedChecks } from '../../../storage/redis/createSharedChecks.ts'
import type { Polls } from './createPolls.ts'
import type { Upstream } from '../createUpstream.ts'

/** A change of an upstream's health, as it is logged. `failing`: its circuit breaker has opened. `recovered`: it has closed again. */
export type HealthState =
  | 'healthy'
  | 'unreachable'
  | 'wrongChain'
  | 'failing'
  | 'recovered'
  | 'lagging'
  | 'caughtUp'
  | 'syncing'
  | 'synced'

/** The states of an upstream in the log. `throttled`: it worked, and now rejects calls for their rate. `outvoted`: others disagreed with it three times. */
export type UpstreamEvent = HealthState | 'throttled' | 'outvoted'

/** An upstream's health. */
export interface Health {
  /** It is reachable and on the right chain. It is used if no other upstream is healthy. */
  readonly isUsable: () => boolean
  /** It responds, but it has rejected all probes for their rate so far, so its chain is not known. */
  readonly isOnlyThrottled: () => boolean
  /** It is usable, neither lags nor syncs, and its circuit breaker is closed. */
  readonly isHealthy: () => boolean
  /** Its circuit breaker has been open for long enough to send it a call that may fail, as a trial. */
  readonly isTrialDue: () => boolean
  readonly sent: Breaker['sent']
  readonly succeeded: Breaker['succeeded']
  readonly failed: Breaker['failed']
  readonly isBreakerOpen: () => boolean
  /** The first thing that is wrong with it. */
  readonly status: () => 'healthy' | 'unreachable' | 'wrongChain' | 'failing' | 'syncing' | 'lagging'
  /** Why it is unreachable or on the wrong chain, such as `HTTP 401`; `undefined` if it is neither, or not known yet. */
  readonly reason: () => string | undefined
  /** Sets whether it says that it syncs: it may lack recent blocks, or their state. */
  readonly setSyncing: (syncing: boolean) => void
  /** Sets whether it is too far behind the others. */
  readonly setLagging: (lagging: boolean) => void
  /** Its id in what instances share about its network; `undefined` if there is nothing to share it with. */
  readonly sharedId: string | undefined
  /** Call this when a call could not connect. The upstream is skipped until a probe reaches it again. */
  readonly markUnreachable: () => void
  /** Starts the probes, which run until `stop`. Resolves after the first one. */
  readonly start: () => Promise<void>
  readonly stop: () => void
}

/**
 * The result of a probe. `unreachable`: nothing listens there. `failing`: it sent no valid response. `throttled`: it rejected the probe for its rate.
 * `skipped`: it was not sent.
 */
type ProbeResult = 'healthy' | 'unreachable' | 'failing' | 'wrongChain' | 'throttled' | 'skipped'

const intervalMs = 5_000
const firstRetryMs = 100
const maxRetryMs = 2_000
const maxProbeTimeoutMs = 5_000
/** Reads the state, as callers do: a node that has lost its disk still knows its chain id. */
export const cheapRead = { method: 'eth_getBalance', params: `["0x${'0'.repeat(40)}","latest"]` }
export const cheapReadTimeoutMs = 2_000
/**
 * An instance that sends a node no calls sends it a probe after this long, also if others reach it: its own way to the node may be broken. By chance up
 * to a fifth sooner, so that instances that start together do not do so together.
 */
const ownProbeMs = 300_000
/** One slow probe may be a node that is busy with an expensive call, so it takes this many in a row. */
const maxFailedProbes = 2

/** Creates what the probes of a node have shown. */
const createReach = (onState: (state: HealthState, reason?: string) => void) => {
  let state: 'unknown' | 'healthy' | 'unreachable' | 'wrongChain' | 'throttled' = 'unknown'
  /** The last chain id that it responded with was right. */
  let isChainRight = false
  let reason: string | undefined
  let failures = 0
  const setState = (next: 'healthy' | 'unreachable' | 'wrongChain', why?: string): void => {
    reason = why
    if (state === next) return
    state = next
    onState(next, why)
  }
  const handleThrottled = (): void => {
    failures = 0
    if (state === 'wrongChain') return
    if (isChainRight) setState('healthy')
    else {
      state = 'throttled'
      reason = 'it rejects all calls for their rate'
    }
  }
  return {
    state: () => state,
    reason: () => reason,
    /** How many probes in a row have failed. */
    failures: () => failures,
    lose: (why: string): void => {
      failures = 1
      setState('unreachable', why)
    },
    handle: (result: Exclude<ProbeResult, 'skipped'>, why: string | undefined): void => {
      if (result === 'throttled') {
        handleThrottled()
        return
      }
      if (result === 'healthy' || result === 'wrongChain') isChainRight = result === 'healthy'
      failures = result === 'healthy' ? 0 : failures + 1
      if (result !== 'failing') setState(result, why)
      else if (state !== 'healthy' || failures >= maxFailedProbes) setState('unreachable', why)
    },
  }
}

interface HealthOptions {
  readonly chainId: number
  readonly timeoutMs: number
  readonly polls: Polls
  readonly hasChainId: boolean
  readonly onState: (state: HealthState, reason?: string) => void
  readonly onLatency: (ms: number) => void
  readonly shared?: { readonly checks: SharedChecks; readonly name: string } | undefined
}

/**
 * Watches one upstream's health. It is usable once a probe has found the right chain there, and until a call or a probe fails to reach it or
 * finds another chain. A node that is throttled works, so its probes change nothing else.
 * @param options.polls - The polls of the upstream's network. Probes run every 5 seconds, and sooner after one that failed.
 * @param options.hasChainId - Whether the operator lets the node have `eth_chainId`. If not, a node that says that it lacks the method is on the right
 * chain.
 * @param options.onState - Called on each change, with the reason if a probe found that it is unreachable or on the wrong chain.
 * @param options.onLatency - Called with the time of each successful probe, in milliseconds.
 * @param options.shared - The checks that instances share, and the name of this one. While this instance reaches the node, successful probes of others
 * count as its own.
 */
export const watchHealth = (upstream: Upstream, options: HealthOptions): Health => {
  const reach = createReach(options.onState)
  let stopped = false
  let lagging = false
  let syncing = false
  let confirming = false
  let ownProbeDueAt = 0
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
    if (!stopped && result !== 'skipped' && result !== 'throttled') confirm(typeof result !== 'string')
  }

  const probe = async (): Promise<void> => {
    const startedAt = performance.now()
    let why: string | undefined
    const onFailure = (text: string): void => void (why = text)
    const { chainId, hasChainId } = options
    // If it cannot be reached, only a probe shows when it can be again. Its response says for how long to wait.
    const evenIfPaused = reach.state() === 'unreachable'
    const result = await checkChainId(upstream, { chainId, hasChainId, timeoutMs, evenIfPaused, onFailure })
    if (stopped) return
    if (result === 'healthy') {
      const latencyMs = performance.now() - startedAt
      options.onLatency(latencyMs)
      ownProbeDueAt = performance.now() + ownProbeMs * (1 - Math.random() / 5)
      check?.setDisputed(false)
      check?.publish(latencyMs)
    }
    if (result !== 'skipped') reach.handle(result, why)
  }
  /** Whether only a probe of this instance counts now. */
  const mustProbe = (): boolean =>
    reach.state() !== 'healthy' || reach.failures() > 0 || !breaker.closed() || performance.now() >= ownProbeDueAt
  const onSharedProbe = (latencyMs: unknown): void => {
    if (stopped || typeof latencyMs !== 'number' || !(latencyMs >= 0 && latencyMs <= maxProbeTimeoutMs)) return
    if (reach.state() === 'unreachable' || reach.state() === 'wrongChain') check?.setDisputed(true)
    if (mustProbe() || options.shared?.checks.isTrusted() !== true) return
    options.onLatency(latencyMs)
    probes.postpone()
  }
  const check: SharedCheck | undefined = options.shared?.checks.join(options.shared.name, onSharedProbe)
  const probes = options.polls.create(
    probe,
    () => (reach.failures() === 0 ? intervalMs : Math.min(firstRetryMs * 2 ** (reach.failures() - 1), maxRetryMs)),
    check && (async () => mustProbe() || check.claim()),
  )

  return {
    isUsable: () => reach.state() === 'healthy',
    isOnlyThrottled: () => reach.state() === 'throttled',
    isHealthy: () => reach.state() === 'healthy' && !lagging && !syncing && breaker.closed(),
    isTrialDue: () => reach.state() === 'healthy' && !lagging && !syncing && breaker.trialDue(),
    isBreakerOpen: () => !breaker.closed(),
    status: () => {
      const state = reach.state()
      if (state !== 'healthy') return state === 'wrongChain' ? 'wrongChain' : 'unreachable'
      if (!breaker.closed()) return 'failing'
      if (syncing) return 'syncing'
      return lagging ? 'lagging' : 'healthy'
    },
    reason: reach.reason,
    sharedId: check?.id,
    sent: breaker.sent,
    succeeded: breaker.succeeded,
    failed: breaker.failed,
    setLagging: (now) => {
      if (lagging === now) return
      lagging = now
      options.onState(now ? 'lagging' : 'caughtUp')
    },
    setSyncing: (now) => {
      if (syncing === now) return
      syncing = now
      options.onState(now ? 'syncing' : 'synced')
    },
    markUnreachable: () => {
      if (reach.state() !== 'healthy' || stopped) return
      reach.lose('a call could not connect')
      probes.reschedule()
    },
    start: probes.run,
    stop: () => {
      stopped = true
      probes.stop()
      check?.leave()
    },
  }
}

/**
 * Requests the chain id of a node.
 * @param options.hasChainId - Whether the node may have `eth_chainId`. If not, one that says that it lacks the method is on the right chain.
 * @param options.onFailure - Called with the reason, unless the node is healthy or busy.
 */
export const checkChainId = async (
  upstream: Upstream,
  {
    chainId,
    hasChainId,
    timeoutMs,
    evenIfPaused,
    onFailure,
  }: {
    chainId: number
    hasChainId: boolean
    timeoutMs: number
    evenIfPaused: boolean
    onFailure: (reason: string) => void
  },
): Promise<ProbeResult> => {
  const query = { method: 'eth_chainId', params: '[]', evenIfPaused }
  const result = await queryUpstream(upstream, query, timeoutMs, onFailure)
  if (typeof result === 'string') return result
  if (result.member === 'error' && !hasChainId) {
    const kind = readErrorKind(result.value, 'eth_chainId')
    if (failureRules[kind].about === 'call' || kind === 'forbidden') return 'healthy'
  }
  const actual = getQuantity(result)
  if (actual === chainId) return 'healthy'
  onFailure(actual === undefined ? 'eth_chainId returned no number' : `its chain id is ${actual}, not ${chainId}`)
  return actual === undefined ? 'failing' : 'wrongChain'
}
