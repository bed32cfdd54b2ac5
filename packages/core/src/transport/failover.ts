import { optionsExample } from '../endpoint/endpointUrlOptions.ts'
import { urlOptionNames } from '../endpoint/urlOptionNames.ts'
import type { EndpointUrlOptions, PerNetwork, SelectedNetwork, SingleNetwork } from '../endpoint/endpointUrlOptions.ts'
import { check, checkNames, checkObject, checkRange } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import { breaker } from './breaker.ts'
import type { BreakerOptions } from './breaker.ts'
import type { EndpointOpener } from './endpoint/openEndpoint.ts'
import type { ConfirmOption } from './route/confirmFeature.ts'
import { checkRouteOptions, route } from './route/route.ts'
import type { Route, RouteEndpoint, RouteOptions } from './route/routeOptions.ts'
import type { AnyEndpointOptions, EndpointOptions } from './endpoint/endpointOptions.ts'

/** Options of {@link failover}. */
export interface FailoverOptions extends RouteOptions, ConfirmOption {
  /** Stops sending calls to an endpoint for a while when it fails. @default true with several endpoints, false with one */
  readonly breaker?: boolean | BreakerOptions | undefined
}

/** The value of the `endpoints` option of `createTransport`. Created by {@link failover}. */
export interface FailoverFeature {
  /** The `minBlock` of calls that have none. */
  readonly minBlock: boolean | undefined
  readonly open: (open: EndpointOpener) => Route
}

const routeNames = ['order', 'attemptTimeoutMs', 'acceptableWaitMs', 'hedge', 'minBlock', 'confirm'] as const

/**
 * Sends calls to several endpoints of one chain, and to the next one when one fails.
 *
 * **Choice.** Endpoints are tried in the order given or, with `order: 'latency'`, the fastest first. If any has a `weight`, calls are sent in
 * proportion to the weights. An endpoint whose circuit breaker is open, or whose budget would make the call wait longer than `acceptableWaitMs`, is
 * skipped while another one is available.
 *
 * **Failure.** A read that failed in a way that another endpoint may not fail in is sent to the next one at once, to each endpoint once. A write
 * moves on only if it cannot have arrived. An endpoint whose response proves that it is on another chain is not used again.
 *
 * @param endpoints - 1 to 30 endpoints. `network` and `chainId` in the options hold for each endpoint without its own.
 * @param options - How endpoints are chosen; see {@link FailoverOptions}.
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and how to fix it. If all endpoints failed, a call fails with the failure that
 * says most; its message names all of them.
 * @example
 * const transport = createTransport({
 *   endpoints: failover([{ url: 'https://one.example' }, { url: 'https://two.example', weight: 0 }], { hedge: true }),
 * })
 */
export function failover<Network extends string = string>(
  endpoints: readonly EndpointOptions<Network>[],
  options?: FailoverOptions & SingleNetwork,
): FailoverFeature
export function failover<Network extends string = string>(
  endpoints: readonly AnyEndpointOptions<Network>[],
  options: FailoverOptions & SelectedNetwork<Network>,
): FailoverFeature
export function failover(
  endpoints: readonly AnyEndpointOptions[],
  options: FailoverOptions & {
    readonly network?: string | undefined
    readonly chainId?: PerNetwork<number> | undefined
  } = {},
): FailoverFeature {
  check(
    Array.isArray(endpoints) && endpoints.length > 0 && endpoints.length <= 30,
    `failover takes an array of 1 to 30 endpoints, such as failover([{ url }]), not ${Array.isArray(endpoints) ? `${endpoints.length} endpoints` : describeType(endpoints)}`,
  )
  for (const endpoint of endpoints) {
    checkObject('an endpoint', endpoint, optionsExample)
    checkNames('an endpoint', endpoint, [...urlOptionNames, 'weight', 'name', 'group', 'budget'])
    checkRange('weight', endpoint.weight, 0, 1e6)
    for (const option of ['name', 'group'] as const)
      check(
        endpoint[option] === undefined || typeof endpoint[option] === 'string',
        `${option} of an endpoint must be a string, not ${describeType(endpoint[option])}`,
      )
    check(
      endpoint.budget === undefined || typeof endpoint.budget === 'function',
      `budget of an endpoint must be made by its function, not ${describeType(endpoint.budget)}: write budget: budget({ requestsPerSecond: 25 })`,
    )
  }
  checkNames('failover', options, [...routeNames, 'network', 'chainId', 'breaker'])
  const { network, chainId, breaker: breakerOption = endpoints.length > 1, ...routeOptions } = options
  check(
    Object(breakerOption) === breakerOption || typeof breakerOption === 'boolean',
    `breaker must be true, false, or an object of options, not ${describeType(breakerOption)}`,
  )
  checkRouteOptions(routeOptions)
  if (routeOptions.order === 'latency') {
    check(
      breakerOption !== false || endpoints.length === 1,
      "order: 'latency' needs the circuit breaker, which measures the response times. Remove breaker: false, or the order",
    )
    check(
      endpoints.every(({ weight }) => !weight),
      "order: 'latency' and weight cannot be used together, except for weight 0. Remove one of them",
    )
  }
  const guard = breakerOption === false ? undefined : breaker(breakerOption === true ? {} : breakerOption)

  const open = (openEndpoint: EndpointOpener): Route => {
    let chain: number | undefined
    const opened = endpoints.map((endpoint): RouteEndpoint => {
      const { weight, name, group, budget, ...address } = endpoint
      const one = openEndpoint({ network, chainId, ...address } as EndpointUrlOptions, { budget, breaker: guard })
      check(
        chain === undefined || one.chainId === undefined || chain === one.chainId,
        `all endpoints must have the same chainId, not ${chain} and ${one.chainId}`,
      )
      chain ??= one.chainId
      return { ...one, weight, name, group }
    })
    return { ...route(opened, routeOptions), chainId: chain }
  }
  return Object.freeze({ minBlock: routeOptions.minBlock, open })
}
