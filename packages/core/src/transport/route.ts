import { now } from '../clock/now.ts'
import { startTimer } from '../clock/startTimer.ts'
import type { Timer } from '../clock/startTimer.ts'
import { createFailure } from '../failure/createFailure.ts'
import { check, checkNames, checkRange } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import type { Guarded, Health } from './breaker.ts'
import type { Budgeted, BudgetStats } from './budget.ts'
import type { Send, Settle } from './call.ts'
import { blockNumber, createHeads, tellsHead } from './heads.ts'
import type { Endpoint } from './http.ts'
import { isExpensiveMethod } from './isExpensiveMethod.ts'
import { onCancel } from './onCancel.ts'
import { createHeadQuery } from './headQuery.ts'
import { readBlock } from './routeBlock.ts'
import type { RouteCall } from './routeCall.ts'
import { chooseFailure, mayTryNextEndpoint } from './routeFailure.ts'
import { listEndpoints, NO_ANSWER_YET } from './triedEndpoints.ts'
import { setBelow } from './waits.ts'

/** One of the endpoints of a {@link route}. What a budget and a breaker tell of it is taken into account where they stand before it. */
export interface RouteEndpoint extends Endpoint, Partial<Budgeted>, Partial<Guarded> {
  /** Its share of the calls, against those of the others; 0 keeps it for when the others cannot. @default 1 */
  readonly weight?: number | undefined
  /** What it is called in statistics and events. @default its redacted URL */
  readonly name?: string | undefined
}

/** When a second endpoint is asked before the first has answered. */
export interface HedgeOptions {
  /** A read is asked of a second endpoint when it takes longer than so many of a hundred did. @default 95 */
  readonly percentile?: number | undefined
  /** Never sooner than this, in milliseconds. @default 50 */
  readonly minMs?: number | undefined
  /** At most this part of the reads is asked twice, from 0 to 1. @default 0.1 */
  readonly maxRatio?: number | undefined
}

/** Options of {@link route}. */
export interface RouteOptions {
  /**
   * How long one attempt at one endpoint may take, in milliseconds; reads only.
   * @default no limit of its own with one endpoint, a third of what is left of the call's time with several
   */
  readonly attemptTimeoutMs?: number | undefined
  /** Another endpoint is chosen where a call would wait longer than this for the budget of the first, in milliseconds. @default 100 */
  readonly acceptableWaitMs?: number | undefined
  /** Asks a second endpoint where the first is slow; not for polling, heavy methods and calls of a group or an explicit batch. @default false */
  readonly hedge?: boolean | HedgeOptions | undefined
  /** Never answers from a node that is behind the highest block seen on this transport. @default false */
  readonly minBlock?: boolean | undefined
}

/** What is known of one endpoint of a route. */
export interface EndpointState {
  /** Its name, or its redacted URL. */
  readonly name: string
  readonly redactedUrl: string
  /** The highest block that it is known to hold; 0 before it has told of any. */
  readonly head: number
  /** Why it is asked no more: it has proved to be on another chain. */
  readonly out: string | undefined
  readonly health: Health | undefined
  readonly budget: BudgetStats | undefined
}

/** Several endpoints as one. */
export interface Route extends Endpoint {
  /** The chain that all of them are on, if it was configured. */
  readonly chainId: number | undefined
  readonly stats: () => EndpointState[]
}

/** So long a head that an endpoint told of is taken for its head still, in milliseconds. */
const FRESH_MS = 1_000

/** Distances of endpoints that are asked only where no other is left: it is known to be behind; its breaker is open. */
const BEHIND = 1e12
const OPEN = 1e15

/** Hedges that were not needed are kept, so that a slow moment can be met: so many at most. */
const MAX_SAVED_HEDGES = 10

/**
 * Checks the options of {@link route}.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and how to fix it.
 */
export function checkRouteOptions({ attemptTimeoutMs, acceptableWaitMs, hedge, minBlock }: RouteOptions): void {
  checkRange('attemptTimeoutMs', attemptTimeoutMs, 1, 2 ** 31 - 1)
  checkRange('acceptableWaitMs', acceptableWaitMs, 0, 2 ** 31 - 1)
  check(
    minBlock === undefined || typeof minBlock === 'boolean',
    `minBlock must be true or false, not ${describeType(minBlock)}: pass a block number with the call`,
  )
  if (hedge === undefined || typeof hedge === 'boolean') return
  checkNames('hedge', hedge, ['percentile', 'minMs', 'maxRatio'])
  checkRange('hedge.percentile', hedge.percentile, 1, 100)
  checkRange('hedge.minMs', hedge.minMs, 0, 2 ** 31 - 1)
  checkRange('hedge.maxRatio', hedge.maxRatio, 0, 1)
}

/**
 * Chooses an endpoint for each call, and another where the first one fails.
 *
 * **Choice.** In the order given, or, where any has a `weight`, in shares; always the first that its breaker lets through and whose budget has
 * room within `acceptableWaitMs`. Where none has, the one with the shortest wait. Where every breaker is open there is nothing to spare, and the first is asked all the same.
 *
 * **Failure.** A read that failed in a way that another endpoint may cure is asked of the next one at once, each endpoint once; waiting is the
 * business of the retry above. A call that changes something moves only where it cannot have arrived. An endpoint whose answer proves that it is
 * on another chain is never asked again.
 *
 * **Groups.** Calls of one group stay at one endpoint, because two nodes are rarely at the same block. A group moves when its endpoint fails
 * or is behind; not for a method or old state that this endpoint does not have, which one call asks for elsewhere.
 *
 * **`minBlock`.** Behind one address there are often many nodes, so an endpoint that has been seen at a block may answer the next call from a
 * node that has not reached it: to choose by what was seen guarantees nothing. So a call that reads at the head is sent with the tag replaced
 * by the number of a head that this very endpoint told of within the last second, at or above `minBlock`; where it told of none it is asked,
 * one question for all the calls that wait. Any node behind the address can then only answer from that block, or say that it does not
 * have it, and such an answer counts as lagging and moves on. It costs one small request a second and endpoint at most, and an answer is up to a
 * second old. To name `minBlock` itself in place of the tag would cost nothing, and keep answering from a block that grows ever older. What is
 * pending has no number: there the endpoint is asked, and trusted.
 *
 * @param endpoints - One or more, all on one chain, at most 30.
 * @param options - How they are chosen.
 * @throws {KeyrailError} kind `invalidRequest` where an option is wrong. A call fails with the failure of the endpoint that is most telling
 * where all of those tried failed; its message names them.
 * @example
 * const endpoints = failover([{ url: 'https://one.example' }, { url: 'https://two.example' }], { hedge: true })
 * const transport = createTransport({ endpoints })
 */
export function route(endpoints: readonly RouteEndpoint[], options: RouteOptions = {}): Omit<Route, 'chainId'> {
  const { attemptTimeoutMs, acceptableWaitMs = 100 } = options
  const count = endpoints.length
  const [only] = endpoints as [RouteEndpoint]
  const hedge: HedgeOptions | undefined = options.hedge === true ? {} : options.hedge || undefined
  const { percentile = 95, minMs = 50, maxRatio = 0.1 } = hedge ?? {}

  const weighted = endpoints.some(({ weight }) => weight !== undefined)
  const shares = endpoints.map(() => 0)
  const heads = createHeads(count)
  const asks = endpoints.map(({ send }) => createHeadQuery(send))
  const out: (KeyrailError | undefined)[] = []
  /** How each endpoint failed last. */
  const lastKinds: (FailureKind | undefined)[] = []
  const stuck = new WeakMap<object, number>()
  let hedges = 0
  const endpointAt = (at: number): RouteEndpoint => endpoints[at] as RouteEndpoint
  const nameOf = ({ name, redactedUrl }: RouteEndpoint): string => name ?? redactedUrl

  /** The least block that an answer to a call may be from; 0 for any. */
  const minBlockOf = ({ options: { minBlock = options.minBlock } }: RouteCall): number =>
    minBlock === true ? heads.highest() : Number(minBlock ?? 0)

  /** How far an endpoint is from being the right one: what it would let a call wait, and far more where it should not be asked at all. */
  const distanceOf = (at: number, call: RouteCall, min: number): number => {
    const { admits, waitMs, weight } = endpointAt(at)
    const { number, at: toldAt } = heads.of(at)
    return (
      Math.max(waitMs?.(call) ?? 0, weight === 0 ? acceptableWaitMs + 1 : 0) +
      (min > number && now() - toldAt < FRESH_MS ? BEHIND : 0) +
      (admits?.(call) === false ? OPEN : 0)
    )
  }

  /** Chooses among the endpoints that were not tried yet and are no further away than `most`; -1 where there is none. */
  const choose = (call: RouteCall, tried: number, min: number, most: number): number => {
    const group = call.group ?? call.batch
    const home = group && stuck.get(group)
    if (home !== undefined && !(tried & (1 << home))) {
      if (!out[home] && distanceOf(home, call, 0) < OPEN) return home
      stuck.delete(group as object)
    }
    let chosen = -1
    let least = Infinity
    let total = 0
    for (let at = 0; at < count; at++) {
      if (tried & (1 << at) || out[at]) continue
      const distance = distanceOf(at, call, min)
      if (distance <= acceptableWaitMs) {
        if (!weighted) return at
        // Smooth weighted round robin: the shares are exact, and spread evenly.
        const weight = endpointAt(at).weight ?? 1
        const share = (shares[at] as number) + weight
        if (total === 0 || share > (shares[chosen] as number)) chosen = at
        shares[at] = share
        total += weight
      } else if (total === 0 && distance < least && distance <= most) {
        least = distance
        chosen = at
      }
    }
    if (total > 0) shares[chosen] = (shares[chosen] as number) - total
    return chosen
  }

  /** Carries a call to one endpoint after another. */
  const travel = (call: RouteCall, settle: Settle, min: number): void => {
    const { method } = call
    const reads = isReadMethod(method)
    const group = call.group ?? call.batch
    const block = min > 0 ? readBlock(method, call.params) : undefined
    const underWay: RouteCall[] = []
    const failures: KeyrailError[] = []
    let tried = 0
    let over = false
    let hedgeTimer: Timer | undefined = undefined

    const finish = (ok: boolean, value: unknown, reason?: unknown): void => {
      over = true
      clearTimeout(hedgeTimer)
      for (const attempt of underWay) stop(attempt, reason)
      call.below = undefined
      settle(ok, value)
    }

    /** Whether an answer is from before `minBlock`, in which case it is none. */
    const lags = (value: unknown): boolean =>
      method === 'eth_blockNumber'
        ? blockNumber(value) < min
        : value === null &&
          block !== undefined &&
          !method.endsWith('Index') &&
          (block.atHead || (block.number ?? Infinity) <= min)

    const lagging = (redactedUrl: string): KeyrailError =>
      createFailure({ kind: 'lagging', text: `the node has not reached block ${min}` }, { method, redactedUrl })

    /** The endpoints that this call was not sent to. */
    const skipped = (): [url: string, reason: string][] =>
      endpoints.flatMap(({ redactedUrl }, at) => {
        if (tried & (1 << at)) return []
        const kind = lastKinds[at]
        return [[redactedUrl, out[at] ? 'wrongNetwork' : `circuit breaker open${kind ? ` after ${kind}` : ''}`]]
      })

    const judge = (at: number, attempt: RouteCall, ok: boolean, value: unknown): void => {
      const { redactedUrl } = endpointAt(at)
      if (ok) {
        if (tellsHead(method)) heads.learn(at, attempt, value)
        if (min === 0 || !lags(value)) return finish(true, value)
        value = lagging(redactedUrl)
      }
      if (!isKeyrailError(value)) return finish(false, value)
      const { kind, source } = value
      // An open circuit breaker reports nothing new about the endpoint.
      if (!(kind === 'unavailable' && source === 'client')) lastKinds[at] = kind
      if (count > 1) (call.tried ??= new Map()).set(redactedUrl, kind)
      if (kind === 'wrongNetwork' && source === 'client' && count > 1) {
        out[at] = value
        heads.drop(at)
      }
      if (!mayTryNextEndpoint(method, value)) return finish(false, value)
      failures.push(value)
      if (group && stuck.get(group) === at && kind !== 'methodUnavailable' && kind !== 'missingData')
        stuck.delete(group)
      // The other of a hedged pair may be answered yet.
      if (underWay.length > 0) return
      const next = choose(call, tried, min, OPEN - 1)
      if (next < 0) return finish(false, chooseFailure(failures, skipped()))
      call.note?.({ type: 'rerouted', redactedUrl, kind })
      start(next)
    }

    const start = (at: number): void => {
      const { redactedUrl, send, admits } = endpointAt(at)
      tried |= 1 << at
      if (group && !stuck.has(group)) stuck.set(group, at)
      const startedAt = now()
      const { deadlineAt } = call
      const attempt = {
        ...call,
        cancel: undefined,
        below: undefined,
        waitedMs: 0,
        creditedMs: 0,
        endpoint: count > 1 ? redactedUrl : undefined,
        insist: admits?.(call) === false,
      } as Attempt
      if (underWay.push(attempt) === 1) setBelow(call, attempt)

      // The deadline may have passed already, where the machine is too busy for its timer.
      const thirdMs = Math.max(1, (deadlineAt - startedAt) / 3)
      const limitMs = reads ? (attemptTimeoutMs ?? (count > 1 ? thirdMs : Infinity)) : Infinity
      /** How long the attempt stood in queues of ours: that time is not its own. */
      const waitedMs = (): number => (deadlineAt < Infinity ? attempt.deadlineAt - deadlineAt : 0)
      const strike = (): void => {
        const leftMs = isWaiting(attempt) ? limitMs : limitMs + waitedMs() - (now() - startedAt)
        if (leftMs >= 1) timer = startTimer(strike, leftMs)
        else {
          const text = `no response within the ${Math.round(limitMs)} ms of one attempt`
          stop(attempt, createFailure({ kind: 'timeout', text }, { method, redactedUrl }))
        }
      }
      let timer = limitMs < 2 ** 31 ? startTimer(strike, limitMs) : undefined
      const end: Settle = (ok, value) => {
        clearTimeout(timer)
        if (over) return
        underWay.splice(underWay.indexOf(attempt), 1)
        if (call.below === attempt) setBelow(call, underWay[0])
        judge(at, attempt, ok, value)
      }

      if (!block?.atHead) return send(attempt, end)
      const sendPinned = (head: number): void => {
        attempt.params = block.pin(head)
        send(attempt, end)
      }
      const { number, at: toldAt } = heads.of(at)
      if (number >= min && startedAt - toldAt < FRESH_MS) return sendPinned(number)
      const ask = asks[at] as Send
      ask(attempt, (ok, value) => {
        setBelow(attempt, undefined)
        if (!ok) return end(ok, value)
        heads.learn(at, asking, value)
        if (blockNumber(value) < min) return end(false, lagging(redactedUrl))
        sendPinned(blockNumber(value))
      })
    }

    onCancel(call, (reason) => finish(false, reason, reason))
    const first = choose(call, 0, min, Infinity)
    if (first < 0) {
      const text = 'every endpoint is on another chain than the chainId option'
      const failure = createFailure({ kind: 'wrongNetwork', text }, { method, redactedUrl: nameOf(only) })
      const list = listEndpoints(skipped(), 'failed')
      return settle(false, count > 1 ? new KeyrailError(`${failure.message} ${list}`, failure) : failure)
    }
    start(first)
    // What belongs together must not be answered by two nodes, and for a poll nobody waits.
    if (!hedge || over || !reads || group || isExpensiveMethod(method) || call.options.priority === 'poll') return
    hedges = Math.min(MAX_SAVED_HEDGES, hedges + maxRatio)
    const slowMs = endpointAt(first).percentileMs?.(percentile)
    if (slowMs === undefined) return
    hedgeTimer = startTimer(
      () => {
        // Ten tenths are a little less than one.
        if (hedges < 1 - 1e-9 || failures.length > 0) return
        const second = choose(call, tried, min, acceptableWaitMs)
        if (second < 0) return
        hedges--
        const { redactedUrl } = endpointAt(second)
        ;(call.tried ??= new Map()).set(redactedUrl, NO_ANSWER_YET)
        call.note?.({ type: 'hedged', redactedUrl })
        start(second)
      },
      Math.max(minMs, slowMs),
    )
  }

  const send: Send = (call: RouteCall, settle) => {
    const min = minBlockOf(call)
    if (count > 1 || min > 0 || attemptTimeoutMs !== undefined) return travel(call, settle, min)
    if (!tellsHead(call.method)) return only.send(call, settle)
    only.send(call, (ok, value) => {
      if (ok) heads.learn(0, call, value)
      settle(ok, value)
    })
  }

  return {
    redactedUrl: nameOf(only),
    send,
    close: () => {
      for (const endpoint of endpoints) endpoint.close()
    },
    stats: () =>
      endpoints.map((endpoint, at) => ({
        name: nameOf(endpoint),
        redactedUrl: endpoint.redactedUrl,
        head: heads.of(at).seen,
        out: out[at]?.message,
        health: endpoint.health?.(),
        budget: endpoint.stats?.(),
      })),
  }
}

/** An attempt's params may be pinned to a block once it is under way. */
type Attempt = { -readonly [K in keyof RouteCall]: RouteCall[K] }

const asking = { method: 'eth_blockNumber', params: '[]' }

/** Ends an attempt without ending the call. */
const stop = (attempt: RouteCall, reason: unknown): void => {
  attempt.ended = true
  attempt.cancel?.(reason)
}

/** Whether the record that works for an attempt now stands in a queue of ours. */
const isWaiting = ({ below, waitingSince }: RouteCall): boolean =>
  below ? isWaiting(below) : waitingSince !== undefined
