import { check, checkNames, checkRange } from '../../failure/check.ts'
import { describeType } from '../../failure/describeType.ts'
import type { Send, RouteCall } from '../call/call.ts'
import type { ConfirmOption } from './confirmFeature.ts'
import { createEndpointChoice } from './endpointChoice.ts'
import { createHeads, reportsHead } from './heads.ts'
import { createHedging } from './hedging.ts'
import { createHeadQuery } from './headQuery.ts'
import type { Route, RouteEndpoint, RouteOptions } from './routeOptions.ts'
import { sendToEndpoints } from './sendToEndpoints.ts'
import type { RouteState } from './routeState.ts'

/**
 * Checks the options of {@link route}.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and how to fix it.
 */
export function checkRouteOptions(options: RouteOptions & ConfirmOption): void {
  const { order, attemptTimeoutMs, acceptableWaitMs, hedge, minBlock, confirm } = options
  check(order === undefined || order === 'given' || order === 'latency', "order must be 'given' or 'latency'")
  checkRange('attemptTimeoutMs', attemptTimeoutMs, 1, 2 ** 31 - 1)
  checkRange('acceptableWaitMs', acceptableWaitMs, 0, 2 ** 31 - 1)
  check(
    minBlock === undefined || typeof minBlock === 'boolean',
    `minBlock must be true or false, not ${describeType(minBlock)}: pass a block number with the call`,
  )
  check(
    confirm === undefined || typeof Object(confirm).open === 'function',
    'confirm must be made by its function: write confirm: confirm()',
  )
  if (hedge === undefined || typeof hedge === 'boolean') return
  checkNames('hedge', hedge, ['percentile', 'minMs', 'maxRatio'])
  checkRange('hedge.percentile', hedge.percentile, 1, 100)
  checkRange('hedge.minMs', hedge.minMs, 0, 2 ** 31 - 1)
  checkRange('hedge.maxRatio', hedge.maxRatio, 0, 1)
}

/**
 * Combines several endpoints into one, which chooses an endpoint for each call and another one if the first one fails.
 *
 * **Choice.** Endpoints are tried in the order given or, with `order: 'latency'`, the fastest first. If any has a `weight`, calls are sent in
 * proportion to the weights. An endpoint whose circuit breaker is open, or whose budget would make the call wait longer than `acceptableWaitMs`, is
 * skipped while another one is available. If none is, the call goes to the one with the shortest wait. If all circuit breakers are open, it goes to
 * the first endpoint all the same.
 *
 * **Failure.** A read that failed in a way that another endpoint may not fail in is sent to the next one at once, to each endpoint once. Waiting
 * between tries is left to the retry layer above. A write moves on only if it cannot have run. An endpoint whose response proves that it is on
 * another chain is not used again.
 *
 * **Groups.** Calls of one group stay at one endpoint, because two nodes are rarely at the same block. A group moves when its endpoint fails
 * or is behind. If the endpoint lacks a method or old state, only the call that needs it moves.
 *
 * **`minBlock`.** Behind one URL there are often many nodes. If the endpoint has reported a block, the next call may still reach a node that
 * does not have it, so choosing an endpoint by its reported head guarantees nothing. A call that reads at the head is therefore sent with the tag
 * replaced by a number: a head that this endpoint reported within the last second, at or above `minBlock`. If there is none, the head is requested
 * first, with one request for all calls that wait for it. Any node behind the URL can then only respond from that block, or report that
 * it does not have it, which counts as lagging and moves the call on. This costs at most one small request per second and endpoint, and
 * results are up to a second old. Using `minBlock` itself as the number would cost nothing, but return results from a block that gets older and
 * older. The `pending` block has no number: such a call is sent as it is.
 *
 * @param endpoints - 1 to 30 endpoints, all on one chain.
 * @param options - How endpoints are chosen.
 * @returns The combined endpoint. If all endpoints failed, a call fails with the failure that says most; its message lists all of them.
 * @example
 * const endpoints = failover([{ url: 'https://one.example' }, { url: 'https://two.example' }], { hedge: true })
 * const transport = createTransport({ endpoints })
 */
export function route(
  endpoints: readonly RouteEndpoint[],
  options: RouteOptions & ConfirmOption = {},
): Omit<Route, 'chainId'> {
  const { attemptTimeoutMs, acceptableWaitMs = 100, hedge = false } = options
  const [first] = endpoints as [RouteEndpoint]
  const heads = createHeads(endpoints.length)
  const choice = createEndpointChoice(endpoints, acceptableWaitMs, heads, options.order === 'latency')
  const state: RouteState = {
    endpoints,
    choice,
    heads,
    headQueries: endpoints.map(({ send }) => createHeadQuery(send)),
    lastKinds: [],
    hedging: hedge === false ? undefined : createHedging(hedge === true ? {} : hedge),
    attemptTimeoutMs,
    acceptableWaitMs,
  }
  const sendConfirmed = options.confirm?.open(endpoints)
  const needsChoice = endpoints.length > 1 || attemptTimeoutMs !== undefined

  /** The lowest block that the response to a call may be from; 0 for any. */
  const getMinBlock = ({ options: { minBlock = options.minBlock } }: RouteCall): number =>
    minBlock === true ? heads.highest() : Number(minBlock ?? 0)

  const send: Send = (call: RouteCall, complete) => {
    const minBlock = getMinBlock(call)
    if (sendConfirmed?.(state, call, complete, minBlock)) return
    if (needsChoice || minBlock > 0) return sendToEndpoints(state, call, complete, minBlock)
    // A single endpoint gets the call as it is.
    if (!reportsHead(call.method)) return first.send(call, complete)
    first.send(call, (ok, value) => {
      if (ok) heads.learn(0, call, value)
      complete(ok, value)
    })
  }

  return {
    redactedUrl: getName(first),
    send,
    close: () => {
      for (const endpoint of endpoints) endpoint.close()
    },
    stats: () =>
      endpoints.map((endpoint, at) => ({
        name: getName(endpoint),
        redactedUrl: endpoint.redactedUrl,
        head: heads.of(at).seen,
        out: choice.getExclusion(at)?.message,
        health: endpoint.health?.(),
        budget: endpoint.stats?.(),
      })),
  }
}

const getName = ({ name, redactedUrl }: RouteEndpoint): string => name ?? redactedUrl
