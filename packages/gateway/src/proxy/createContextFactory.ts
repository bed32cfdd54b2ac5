import { createJwtCache } from '../auth/jwt/createJwtCache.ts'
import { createClientIp } from '../lib/ip/clientIp.ts'
import { createIpLimit } from '../usage/rateLimit/createIpLimit.ts'
import { createLookUpLimit } from '../usage/rateLimit/createLookUpLimit.ts'
import { createRateLimiter } from '../usage/rateLimit/createRateLimiter.ts'
import { createGroupFactory } from './createGroupFactory.ts'
import type { GroupParts } from './createGroupFactory.ts'
import type { GatewayConfig, GatewayParts } from './gatewayOptions.ts'
import type { Connections } from './http/connections.ts'
import type { NetworkNames } from './http/parsePath.ts'
import { strictTransport } from './http/strictTransport.ts'
import { createBodyQueue } from './request/createBodyQueue.ts'
import type { GatewayContext } from './request/gatewayContext.ts'
import { createNetworkContexts } from './request/networkContext.ts'

/** The state of a gateway: `leaving` after `prepareToClose`, `draining` after `close`. */
export type Phase = 'serving' | 'leaving' | 'draining'

/** The parts of a gateway that all its contexts use. */
export interface ContextFactoryOptions extends Pick<GatewayContext, 'getHub' | 'log'> {
  readonly connections: Connections
  readonly getPhase: () => Phase
}

const defaultUnknownKeys = { perSecond: 10, burst: 100 }

/** Names come before chain ids. If networks share a chain id, it means the first. */
const toNetworkNames = ({ networks, networkHosts }: GatewayConfig): NetworkNames => {
  const byName = new Map(
    [...networks].flatMap(([network, { aliases }]) => [network, ...aliases].map((name) => [name, network] as const)),
  )
  for (const [network, { chainId }] of networks) if (!byName.has(String(chainId))) byName.set(String(chainId), network)
  return { byName, hostSuffix: networkHosts?.slice('{network}'.length).toLowerCase() }
}

/**
 * Creates the function that creates the context of a config, with the upstreams of its networks. Contexts share their limits, so that reloading the config
 * resets none.
 * @returns The function. A network that is the same as in the context before keeps its upstreams.
 */
export const createContextFactory = (
  parts: GatewayParts & Pick<GroupParts, 'permits'>,
  { connections, getHub, getPhase, log }: ContextFactoryOptions,
): ((config: GatewayConfig, before?: GatewayContext) => GatewayContext) => {
  const { now = Date.now } = parts
  const jwtCache = createJwtCache({ now })
  const bodies = createBodyQueue()
  const testRates = createRateLimiter()
  const unknownKeys = createIpLimit(parts.unknownKeys ?? defaultUnknownKeys)
  const lookUps = createLookUpLimit({ unknownKeys })
  const createGroups = createGroupFactory(parts, log)
  return (config, before) => ({
    config,
    names: toNetworkNames(config),
    networks: createNetworkContexts(config, createGroups(config, before), parts.developmentMethods),
    auth: {
      keys: parts.keys,
      jwtCache,
      unknownKeys,
      lookUps,
      clientIp: createClientIp(config.trustedProxies),
      testKeys:
        parts.testKeys === true
          ? { origin: config.publicUrl && new URL(config.publicUrl).origin, rates: testRates }
          : undefined,
    },
    usage: {
      limits: parts.usageLimits,
      meter: parts.meter,
      requestRecorder: parts.requestRecorder,
    },
    server: {
      connections,
      strictTransportSecurity: config.publicUrl === undefined ? undefined : strictTransport(config.publicUrl),
      fallback: parts.fallback,
      leaving: () => getPhase() !== 'serving',
      draining: () => getPhase() === 'draining',
      degraded: parts.degraded ?? (() => []),
      details: parts.details ?? (() => ({})),
      notReady: parts.notReady ?? (() => undefined),
    },
    getHub,
    limits: config.bounds,
    bodies,
    inFlight: 0,
    logRequests: config.logRequests && parts.log !== undefined,
    log,
    now,
  })
}
