import { addressExample } from '../address/addressOptions.ts'
import type { AddressOptions } from '../address/addressOptions.ts'
import { check, checkNames, checkObject } from '../failure/invalid.ts'
import { batch } from './batch.ts'
import { breaker } from './breaker.ts'
import { budget } from './budget.ts'
import type { Endpoint } from './http.ts'
import { gate } from './gate.ts'
import { http } from './http.ts'
import type { RouteEndpoint } from './route.ts'
import type { AnyEndpointOptions, Options } from './transportOptions.ts'

/** Endpoints that are ready to be asked, and the chain they are on, as far as it was named. */
export interface OpenEndpoints {
  readonly endpoints: readonly RouteEndpoint[]
  readonly chainId: number | undefined
}

/** The names of an address, as options go. */
export const addressNames: readonly string[] = [
  'url',
  'baseUrl',
  'rpcUrl',
  'apiKey',
  'network',
  'chainId',
  'jwt',
] satisfies readonly (keyof AddressOptions)[]

/**
 * Opens the endpoints that options name. Each has its own budget, breaker, gate, batches and connections.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and the mend.
 */
export function openEndpoints(options: Options): OpenEndpoints {
  const { network, chainId, fetch, agent, maxResponseBytes, maxInFlight, maxWaitMs } = options
  const given: readonly AnyEndpointOptions[] = options.endpoints ?? [options]
  check(Array.isArray(given) && given.length > 0, 'endpoints must be a list of addresses')
  if (options.endpoints)
    for (const name of ['url', 'baseUrl', 'rpcUrl', 'apiKey', 'jwt'] as const)
      check(options[name] === undefined, `pass ${name} in one of the endpoints, or no endpoints`)
  const { breaker: guarded = given.length > 1 } = options
  check(
    Object(guarded) === guarded || typeof guarded === 'boolean',
    'breaker must be true, false, or an object of options',
  )

  let chain: number | undefined
  const open = (endpoint: AnyEndpointOptions): RouteEndpoint => {
    if (options.endpoints) {
      checkObject('an endpoint', endpoint, addressExample)
      checkNames('an endpoint', endpoint, [...addressNames, 'weight', 'name', 'budget'])
    }
    const { weight, name } = options.endpoints ? endpoint : {}
    const posting = http({ network, chainId, ...endpoint } as AddressOptions, { fetch, agent, maxResponseBytes })
    check(
      !chain || !posting.chainId || chain === posting.chainId,
      'endpoints must all be on one chain: see their chainId',
    )
    chain ??= posting.chainId
    const limits = endpoint.budget ?? options.budget ?? {}
    check(Object(limits) === limits, 'budget must be an object of options')
    const joined = batch(options.batch ?? false)(gate({ maxInFlight, maxWaitMs })(posting))
    const watched: Endpoint = guarded === false ? joined : breaker(guarded === true ? {} : guarded)(joined)
    return { ...budget({ maxWaitMs, ...limits })(watched), weight, name }
  }
  return { endpoints: given.map(open), chainId: chain }
}
