import { optionsExample } from '../endpoint/endpointUrlOptions.ts'
import { urlOptionNames } from '../endpoint/urlOptionNames.ts'
import type { EndpointUrlOptions } from '../endpoint/endpointUrlOptions.ts'
import { check, checkNames, checkObject, invalidRequest } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import type { ObserverFeature } from '../observe/observe.ts'
import type { StatsFeature } from '../observe/statsFeature.ts'
import type { BatchFeature } from './batch.ts'
import { createChainIdReader } from './createChainIdReader.ts'
import { coalesce } from './coalesce.ts'
import type { Dispatch } from './call/createDispatch.ts'
import { createDeadlines } from './deadline.ts'
import { setExpectedChain } from './expectChain.ts'
import type { ExpectedChain } from '../message/findChainMismatch.ts'
import { fillList } from '../message/fillList.ts'
import { withHint } from './hints.ts'
import { createOpener } from './endpoint/openEndpoint.ts'
import type { OpenEndpoint } from './endpoint/openEndpoint.ts'
import { retry } from './retry.ts'
import type { Route } from './route/routeOptions.ts'
import { createStack } from './stack.ts'
import type { FeatureMethods, KeyrailTransport } from './transport.ts'
import { createGroup } from './transportGroup.ts'
import type { FeatureOptions, TransportOptions } from './transportOptions.ts'

/**
 * The options that take a feature: an example of the value, and the function by which the value differs from plain options. Without one, the value is
 * a function itself.
 */
const features: Readonly<Record<string, readonly [example: string, member?: string]>> = {
  endpoints: ['failover([{ url }])', 'open'],
  batch: ['batch()', 'wrap'],
  budget: ['budget({ requestsPerSecond: 25 })'],
  cache: ['cache()'],
  safeWrites: ['safeWrites({ keccak256 })'],
  webSocket: ['webSocket()', 'open'],
  stats: ['stats()', 'watch'],
  hooks: ['hooks({ onFailure })', 'watch'],
  tracing: ['tracing({ api })', 'watch'],
  diagnostics: ['diagnostics()', 'watch'],
} satisfies Partial<Record<keyof FeatureOptions | 'endpoints', readonly [example: string, member?: string]>>

const plainNames: readonly (keyof FeatureOptions)[] = [
  'fetch',
  'agent',
  'maxResponseBytes',
  'maxInFlight',
  'maxWaitMs',
  'timeoutMs',
  'retry',
  'coalesce',
  'layers',
]

/** The names of all options of a transport. A function, because bundlers keep a computed list in programs that do not use it. */
export const getTransportOptionNames = (): readonly string[] => [
  ...urlOptionNames,
  ...plainNames,
  ...Object.keys(features),
]

/**
 * Creates a transport. One instance can serve several libraries, which then share its limits, cache and connections.
 *
 * By default calls have a deadline, reads are retried, identical reads share one request, at most 64 requests are in flight, and failures have a
 * hint. Every other feature is a function that you import and pass in its option, so bundles hold only what you use.
 *
 * @param options - One endpoint, or several by `endpoints: failover([…])`, and how calls are sent.
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and how to fix it.
 * @example
 * const transport = createTransport({ baseUrl: 'https://node.example/testnet', apiKey: 'kr_a…', timeoutMs: 5_000, batch: batch() })
 * const block = await transport.request({ method: 'eth_blockNumber' })
 */
export function createTransport<
  B extends BatchFeature<never> | undefined = undefined,
  S extends StatsFeature | undefined = undefined,
  Network extends string = string,
>(
  options: TransportOptions<Network> & { readonly batch?: B; readonly stats?: S },
): KeyrailTransport<B> & FeatureMethods<B, S> {
  checkObject('createTransport', options, optionsExample)
  checkNames('createTransport', options, getTransportOptionNames())
  checkFeatures(options as object as Readonly<Record<string, unknown>>)
  const {
    endpoints: failover,
    retry: retryOption,
    coalesce: coalesces = true,
    cache,
    safeWrites,
    layers = [],
  } = options
  const { timeoutMs, batch, webSocket, stats, hooks, tracing, diagnostics } = options as FeatureOptions
  check(typeof coalesces === 'boolean', `coalesce must be true or false, not ${describeType(coalesces)}`)
  check(
    Array.isArray(layers) && layers.every((layer) => typeof layer === 'function'),
    'layers must be an array of functions: create them with layer()',
  )
  if (failover)
    for (const name of urlOptionNames)
      check(
        options[name as keyof EndpointUrlOptions] === undefined,
        `${name} cannot be used together with endpoints: pass it to failover`,
      )

  const chain: ExpectedChain = { id: undefined }
  const open = createOpener(options as FeatureOptions, chain)
  const route = failover ? failover.open(open) : toRoute(open(pickUrlOptions(options)))
  const { redactedUrl, chainId } = route
  chain.id = chainId
  const observers: readonly ObserverFeature[] = [stats, hooks, tracing, diagnostics].filter((one) => one !== undefined)
  // Called through the first observer, so that a transport without observers does not bundle this code.
  const observer = observers[0]?.createObserver(observers, stats?.stats, redactedUrl)
  // From the innermost to the outermost.
  const stack = createStack(
    route,
    [
      retryOption !== false && retry(typeof retryOption === 'number' ? { retries: retryOption } : retryOption),
      cache,
      coalesces && coalesce({ minBlock: failover?.minBlock }),
      safeWrites,
      ...layers,
    ].filter((layer) => !!layer),
    {
      live: createDeadlines({ timeoutMs }, redactedUrl, (call) => call),
      start: observer?.start,
      end: (call, ok, value) => {
        observer?.end(call, ok, value)
        return ok ? fillList(call.method, value) : withHint(value)
      },
    },
  )
  const { dispatch, close } = stack
  const batchMethods = (to: Dispatch): object => (batch ? { batch: batch.createRequest(to) } : {})
  const transport: KeyrailTransport = {
    redactedUrl,
    request: dispatch,
    group: () => {
      const group = createGroup(stack)
      const full = Object.freeze({ ...group.transport, ...batchMethods(group.dispatch) })
      setExpectedChain(full, chain)
      return full
    },
    chainId: createChainIdReader(dispatch, redactedUrl, chainId),
    close,
    [Symbol.asyncDispose]: async () => close(),
  }
  const statsMethods = stats && { stats: () => ({ ...stats.stats.snapshot(), endpointStates: route.stats() }) }
  const full = Object.freeze({ ...transport, ...batchMethods(dispatch), ...statsMethods })
  setExpectedChain(full, chain)
  webSocket?.register(full, dispatch)
  return full as never
}

/** A single endpoint as a route. It follows no heads, so it rejects a `minBlock` rather than ignore it. */
function toRoute(endpoint: OpenEndpoint): Route {
  const { redactedUrl, stats } = endpoint
  return {
    ...endpoint,
    send: (call, complete) => {
      if (!call.options.minBlock) return endpoint.send(call, complete)
      complete(
        false,
        invalidRequest('minBlock works only with endpoints: failover([…]). Use failover, or leave it out'),
      )
    },
    stats: () => [{ name: redactedUrl, redactedUrl, head: 0, out: undefined, health: undefined, budget: stats?.() }],
  }
}

/** Rejects options in place of the feature that they are for, such as `cache: true`. */
function checkFeatures(options: Readonly<Record<string, unknown>>): void {
  for (const [name, [example, member]] of Object.entries(features)) {
    const value = options[name]
    if (value === undefined || (name === 'safeWrites' && value === false)) continue
    const made = typeof (member ? Object(value)[member] : value) === 'function'
    check(made, `${name} must be made by its function, not ${describeType(value)}: write ${name}: ${example}`)
  }
}

function pickUrlOptions(options: object): EndpointUrlOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => urlOptionNames.includes(name))) as never
}
