import {
  batch,
  budget,
  cache,
  createTransport,
  diagnostics,
  failover,
  hooks,
  safeWrites,
  stats,
  tracing,
} from '../src/index.ts'
import type {
  BatchFeature,
  BatchMethods,
  BatchOptions,
  BudgetOptions,
  CacheOptions,
  EndpointOptions,
  EthereumRpc,
  FailoverOptions,
  FeatureOptions,
  Hooks,
  KeyrailTransport,
  Keccak256,
  StatsMethods,
  TracingOptions,
  TransportOptions,
} from '../src/index.ts'

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** A transport with every feature. */
export type FullTransport = KeyrailTransport<BatchFeature> & BatchMethods<EthereumRpc> & StatsMethods

export type TransportGroup = ReturnType<FullTransport['group']>

/** The features as plain data, so that properties can generate them. */
export type FullOptions = Omit<
  FeatureOptions,
  'batch' | 'budget' | 'cache' | 'safeWrites' | 'stats' | 'hooks' | 'tracing' | 'diagnostics'
> &
  Omit<FailoverOptions, 'chainId' | 'network'> &
  Partial<Record<'url' | 'baseUrl' | 'rpcUrl' | 'network', unknown>> & {
    readonly apiKey?: unknown
    readonly jwt?: unknown
    readonly headers?: unknown
    readonly chainId?: unknown
    readonly endpoints?:
      | readonly (DistributiveOmit<EndpointOptions, 'budget'> & { readonly budget?: BudgetOptions })[]
      | undefined
    readonly batch?: boolean | BatchOptions | undefined
    readonly budget?: BudgetOptions | undefined
    readonly cache?: boolean | CacheOptions | undefined
    readonly keccak256?: Keccak256 | undefined
    readonly resends?: number | undefined
    readonly hooks?: Hooks | undefined
    readonly tracing?: TracingOptions | undefined
  }

/** Creates a transport with every feature from options as plain data. A feature without options is present, but changes no call. */
export function createFullTransport(options: FullOptions): FullTransport {
  const {
    endpoints,
    network,
    chainId,
    order,
    attemptTimeoutMs,
    acceptableWaitMs,
    hedge,
    minBlock,
    breaker,
    batch: batchOptions = false,
    budget: budgetOptions = {},
    cache: cacheOptions = false,
    keccak256,
    resends,
    hooks: given,
    tracing: tracingOptions,
    url,
    baseUrl,
    rpcUrl,
    apiKey,
    jwt,
    headers,
    ...rest
  } = options
  const endpoint = Object.fromEntries(
    Object.entries({ url, baseUrl, rpcUrl, apiKey, jwt, headers }).filter(([, value]) => value !== undefined),
  ) as unknown as EndpointOptions
  const { maxWaitMs } = rest
  const limits = (own: BudgetOptions): ReturnType<typeof budget> => budget({ maxWaitMs, ...own })
  const list = (endpoints ?? [endpoint]).map(
    (one) => ({ ...one, ...(one.budget && { budget: limits(one.budget as BudgetOptions) }) }) as EndpointOptions,
  )
  const failoverOptions = { order, attemptTimeoutMs, acceptableWaitMs, hedge, minBlock, breaker }
  return createTransport({
    ...rest,
    endpoints: failover(list, { ...failoverOptions, network, chainId } as object),
    batch: batch(typeof batchOptions === 'boolean' ? { join: batchOptions } : batchOptions),
    budget: limits(budgetOptions),
    cache: cacheOptions === false ? undefined : cache(cacheOptions === true ? {} : cacheOptions),
    safeWrites: keccak256 && safeWrites({ keccak256, resends }),
    stats: stats(),
    hooks: given && hooks(given),
    tracing: tracingOptions && tracing(tracingOptions),
    diagnostics: diagnostics(),
  } as TransportOptions as never) as unknown as FullTransport
}
