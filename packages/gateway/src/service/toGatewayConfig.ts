import type { Network } from '../lib/network.ts'
import type { GatewayConfig } from '../proxy/gatewayOptions.ts'
import { normalizeWeights } from '../proxy/method/weights.ts'
import { networkBounds } from '../proxy/options/bounds.ts'
import { gatewayShape } from '../proxy/options/gatewayShape.ts'
import { networkShape } from '../proxy/options/networkOptions.ts'
import type { NetworkOptions } from '../proxy/options/networkOptions.ts'
import type { UpstreamHeaders, UpstreamOptions } from '../proxy/options/upstreamOptions.ts'
import { findHeadersFault } from '../proxy/upstream/upstreamHeaders.ts'
import { ConfigError } from './configError.ts'
import type { LimitsByNetwork } from './networkLimits.ts'
import type { RunningConfig } from './runningConfig.ts'

type UpstreamConfig = RunningConfig['networks'][string]['upstreams'][number]

/**
 * The gateway's part of a config. `readServiceConfig` has replaced the variables and files of URLs and headers.
 * @param byNetwork - From `resolveNetworkLimits`.
 * @throws {ConfigError} if the URL or the headers of an upstream cannot be used.
 */
export const toGatewayConfig = (
  config: RunningConfig,
  byNetwork: LimitsByNetwork,
  { tls, tracer }: Pick<GatewayConfig, 'tls' | 'tracer'>,
): GatewayConfig => ({
  ...pick(config, gatewayShape),
  publicUrl: config.publicUrl?.replace(/\/+$/, ''),
  weights: normalizeWeights(config.limits.weights),
  networks: new Map(Object.keys(config.networks).map((name) => [name, toNetworkOptions(name, config, byNetwork)])),
  tls,
  tracer,
})

/** Picks the options of a shape, so that a new one is written in its shape and nowhere else. */
const pick = <Options extends object, Shape extends object>(
  options: Options,
  shape: Shape,
): Pick<Options, keyof Options & keyof Shape> =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(shape, name))) as never

const toNetworkOptions = (
  name: Network,
  { networks, bounds }: RunningConfig,
  byNetwork: LimitsByNetwork,
): NetworkOptions => {
  const { chainId, aliases, limits: _limits, ...network } = networks[name] as RunningConfig['networks'][string]
  const own = byNetwork[name]
  return {
    chainId,
    aliases,
    ...pick(network, networkShape),
    bounds: { ...pick(bounds, networkBounds.shape), ...network.bounds },
    weights: own && normalizeWeights(own.weights),
    upstreams: toUpstreams(name, network.upstreams).map((upstream) => narrow(upstream, network.methods)),
  }
}

/** Denies a node the methods that the network sends to others only. */
const narrow = (upstream: UpstreamOptions, methods: NetworkOptions['methods']): UpstreamOptions => {
  const elsewhere = Object.entries(methods).flatMap(([name, { upstreams }]) =>
    upstreams === undefined || upstreams.includes(upstream.name) ? [] : [name],
  )
  return { ...upstream, denyMethods: [...upstream.denyMethods, ...elsewhere] }
}

/** The nodes of a network. @throws {ConfigError} if a URL or headers cannot be used. */
export const toUpstreams = (network: Network, upstreams: readonly UpstreamConfig[]): readonly UpstreamOptions[] =>
  upstreams.map((upstream, index) => {
    const { url, wsUrl, headers = {}, vendor: _v, keyEnv: _ke, keyFile: _kf, ...rest } = upstream
    const { urlEnv: _e, urlFile: _f, wsUrlEnv: _we, wsUrlFile: _wf, ...options } = rest
    const path = `networks.${network}.upstreams[${index}]`
    if (url === undefined)
      throw new ConfigError([{ path: `${path}.url`, fix: 'is missing: read the config with readServiceConfig' }])
    const urls = { url: new URL(url), wsUrl: wsUrl === undefined ? undefined : new URL(wsUrl) }
    const fault = findHeadersFault(headers) ?? findConflict(Object.keys(headers), Object.values(urls))
    if (fault !== undefined) throw new ConfigError([{ path: `${path}.headers`, fix: fault }])
    return { name: `${network}-${index + 1}`, ...options, ...urls, headers: headers as UpstreamHeaders }
  })

/** User and password of a URL become a Basic authorization. */
const findConflict = (names: readonly string[], urls: readonly (URL | undefined)[]): string | undefined =>
  urls.some((url) => url !== undefined && `${url.username}${url.password}` !== '') &&
  names.some((name) => name.toLowerCase() === 'authorization')
    ? 'must not have "authorization" if the URL has a user or a password: remove one of them'
    : undefined
