import type { Server, ServerResponse } from 'node:http'
import type { createServer as createTlsServer } from 'node:https'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createAccounts } from '../account/createAccounts.ts'
import type { Accounts } from '../account/accounts.ts'
import { createControl } from '../control/createControl.ts'
import { createControlServer } from './createControlServer.ts'
import { createGateway } from '../createGateway.ts'
import type { GatewayOptions } from '../gatewayOptions.ts'
import { createClientIp } from '../http/clientIp.ts'
import { listeningUrl } from '../http/publicUrl.ts'
import { createStoredKeys } from '../key/createStoredKeys.ts'
import { limitsInForce } from '../key/keyLimits.ts'
import type { KeyLimits } from '../key/keyStore.ts'
import { narrowLimits } from '../key/narrowLimits.ts'
import { createRateLimiter } from '../limit/createRateLimiter.ts'
import type { LocalRateLimiter } from '../limit/createRateLimiter.ts'
import type { RateLimiter } from '../limit/rateLimiter.ts'
import type { Meter } from '../meter/meter.ts'
import { createMeter } from '../meter/createMeter.ts'
import { createReadMetrics } from '../meter/createReadMetrics.ts'
import type { UsageRetention } from '../meter/rollUp.ts'
import type { Network } from '../network.ts'
import { createQuota } from '../quota/createQuota.ts'
import type { Access } from '../storage/access.ts'
import type { Change } from '../storage/changes.ts'
import { openStorage } from '../storage/openStorage.ts'
import type { Storage, StorageOptions } from '../storage/openStorage.ts'
import type { ServerSecret } from '../key/serverSecret.ts'
import { checkSecrets } from './checkSecrets.ts'
import { ConfigError } from './configError.ts'
import { createPrometheus } from './prometheus.ts'
import { provideAccount } from './provideAccount.ts'
import type { ProvidedAccount } from './provideAccount.ts'
import type { ServerSecrets } from './readServerSecrets.ts'
import { readTls } from './readTls.ts'
import type { ServiceConfig } from './serviceConfig.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { createSite } from './site.ts'
import type { Site } from './site.ts'
import { watchStores } from './watchStores.ts'

/** What a service is made of. */
export interface ServiceOptions {
  /** Where `publicUrl` is left out, it is where the service listens. */
  readonly config: ServiceConfig | RunningConfig
  /** Keys are sealed under the newest. */
  readonly secrets: ServerSecrets
  readonly storage: StorageOptions
  /** Where instances of one service share their rates a second, and tell each other of changes at once. A secret. */
  readonly redisUrl?: string | undefined
  /** At least 32 characters: who has it may do what an operator may. A secret. */
  readonly operatorToken?: string | undefined
  /** Opens the embedded nodes' own methods. For development only. @default false */
  readonly unsafeNodeMethods?: boolean
  /** Answers to `kr_rehearse_…` as a service at its limit does. For development only. @default false */
  readonly rehearsalKeys?: boolean
  /** Told of each request and each change. */
  readonly log?: ((entry: ServiceLogEntry) => void) | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** A config whose `publicUrl` is not known before the service listens. */
export type RunningConfig = Omit<ServiceConfig, 'publicUrl'> & { readonly publicUrl?: string }

/** Where a service listens. */
export interface Listening {
  /** Where callers reach the networks. */
  readonly url: string
  readonly port: number
  /** Where browsers and scripts reach the dashboard and `/api`. */
  readonly siteUrl: string
  readonly prometheusPort?: number
}

/** The whole service: networks, accounts, control API, dashboard. */
export interface Service {
  /**
   * Probes the nodes once, then takes requests.
   * @param at - @default what the config says
   * @throws What listening failed with, such as EADDRINUSE; it may be tried again.
   */
  listen(at?: { host: string; port: number }): Promise<Listening>
  /**
   * Takes another config without dropping a request.
   * @returns Names of what acts only after a restart, and stays as it was until then.
   * @throws {ConfigError} where it cannot be used; then everything stays as it was.
   */
  reload(config: ServiceConfig | RunningConfig, secrets?: ServerSecrets): Promise<readonly string[]>
  /** @see provideAccount */
  provideAccount(wanted: ProvidedAccount): Promise<ProvidedAccount>
  readonly storage: Storage
  readonly accounts: Accounts
  /**
   * Stops: answers what was asked before, refuses the rest, writes what is not written, and closes the storage.
   * @param options.graceMs - After this, what is still under way is cut off, in milliseconds. @default 10_000
   */
  close(options?: { graceMs?: number }): Promise<void>
}

const tlsOf = (config: RunningConfig): Pick<GatewayOptions, 'tls'> => {
  const tls = readTls(config)
  return tls === undefined ? {} : { tls }
}

/** What a running service cannot change: by its name in the config. */
const fixed = (config: RunningConfig): Readonly<Record<string, unknown>> => ({
  listen: config.listen,
  'control.listen': config.control?.listen,
  tls: config.tls === undefined,
  prometheus: config.prometheus,
  storage: config.storage,
  outageGrant: config.outageGrant,
  retention: config.retention,
  staleKeysForMs: config.staleKeysForMs,
})

const limitsOf =
  (config: () => RunningConfig) =>
  ({ app, user }: Access): KeyLimits => {
    const { apps, apiKeys } = config().limits
    const ofUser = limitsInForce([user.limits], app === null ? apiKeys : apps)
    return app === null ? ofUser : narrowLimits(app.limits, ofUser)
  }

/** Loaded late: who has no Redis does not wait for it. */
const openRedisParts = async (url: string | undefined, onChange: (changes: readonly Change[]) => void) => {
  if (url === undefined) return undefined
  const [{ openRedis }, { createRedisInvalidation }, { createRedisRateLimiter }] = await Promise.all([
    import('../redis/openRedis.ts'),
    import('../redis/createRedisInvalidation.ts'),
    import('../limit/createRedisRateLimiter.ts'),
  ])
  const link = openRedis(url)
  const invalidation = createRedisInvalidation({ redis: link, onChange })
  return {
    link,
    invalidation,
    createRates: (local: LocalRateLimiter): RateLimiter => createRedisRateLimiter({ redis: link, local }),
    close: async (): Promise<void> => {
      await invalidation.close()
      await link.close()
    },
  }
}

/** Before it listens nobody asks. */
const urlsOf = (config: RunningConfig, where: Listening | undefined): { networks: string; site: string } => {
  const networks = config.publicUrl ?? where?.url ?? 'http://localhost'
  return { networks, site: config.control?.publicUrl ?? networks }
}

const dayMs = 86_400_000
const retentionOf = ({ retention: { minutesDays, hoursDays, daysDays } }: RunningConfig): UsageRetention => ({
  minutesMs: minutesDays * dayMs,
  hoursMs: hoursDays * dayMs,
  daysMs: daysDays * dayMs,
})

const startListening = (server: Server, { host, port }: { host: string; port: number }): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })

const stopListening = async (server: Server, graceMs: number): Promise<void> => {
  if (!server.listening) return
  const cut = setTimeout(() => server.closeAllConnections(), graceMs)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  clearTimeout(cut)
}

/**
 * Makes a service: opens its storage and puts its parts together. Nothing listens before `listen`.
 * @throws {ConfigError} where the config cannot be used. {StorageError} where the storage cannot be opened.
 * @example
 * declare const config: Parameters<typeof createService>[0]['config']
 * const service = await createService({
 *   config,
 *   secrets: readServerSecrets(),
 *   storage: { file: '/var/lib/keyrail/keyrail.db' },
 * })
 * const { url } = await service.listen()
 */
export const createService = async (options: ServiceOptions): Promise<Service> => {
  const { now = Date.now, unsafeNodeMethods = false, rehearsalKeys = false } = options
  let { config } = options
  // Kept as one list whose members are exchanged, since the control API was given it.
  const secrets: [ServerSecret, ...ServerSecret[]] = [...options.secrets]
  let site: Site | undefined
  let listening: Listening | undefined

  const log = (entry: ServiceLogEntry): void => {
    prometheus?.see(entry)
    try {
      options.log?.(entry)
    } catch {
      // A log that fails is no reason for the service to fail.
    }
  }
  const prometheus = config.prometheus === undefined ? undefined : createPrometheus({ degraded: () => stores.gone() })

  checkSecrets(options)
  const storage = await openStorage(options.storage)
  const redis = await openRedisParts(options.redisUrl, (changes) => keys.forget(changes))
  const stores = watchStores(
    [
      { name: 'database' as const, ping: () => storage.ping() },
      ...(redis === undefined ? [] : [{ name: 'redis' as const, ping: () => redis.link.ping() }]),
    ],
    log,
  )
  const keys = createStoredKeys({
    storage,
    limitsOf: limitsOf(() => config),
    staleKeysForMs: config.staleKeysForMs,
    now,
  })
  const accounts = createAccounts({
    storage,
    signUp: () => config.signUp,
    operatorToken: options.operatorToken,
    auditDays: config.retention.auditDays,
    now,
    onChange: (changes) => forget(changes),
  })
  const forget = (changes: readonly Change[]): void => {
    keys.forget(changes)
    redis?.invalidation.publish(changes)
  }
  const quota = createQuota({ storage, outageGrant: config.outageGrant, now, onEvent: log })
  const stored = createMeter({ storage, retention: retentionOf(config), now, onEvent: log })
  // Prometheus counts what the meter is told, and so nothing twice.
  const meter: Meter =
    prometheus === undefined
      ? stored
      : {
          ...stored,
          count: (...counted) => {
            const [, network, method, outcome] = counted
            prometheus.count(network, method, outcome)
            stored.count(...counted)
          },
        }
  const local = createRateLimiter()
  const rates = redis === undefined ? local : redis.createRates(local)
  const degraded = (): readonly string[] => stores.gone()
  const control = createControl({
    storage,
    accounts,
    quota,
    readMetrics: createReadMetrics({ storage }),
    keys: { forget },
    secrets,
    config: () => ({
      signUp: config.signUp,
      reveal: config.reveal === 'onDemand',
      maxApps: config.limits.appsPerUser,
      limits: { app: config.limits.apps, apiKey: config.limits.apiKeys },
    }),
    deployment: () => {
      const { networks, site: controlUrl } = urlsOf(config, listening)
      return {
        publicUrl: networks,
        controlUrl,
        chain: {
          ...config.chain,
          chainIds: { testnet: config.networks.testnet.chainId, mainnet: config.networks.mainnet.chainId },
        },
      }
    },
    degraded,
    log,
    now,
  })
  const closeParts = async (): Promise<void> => {
    stores.stop()
    // What callers used is written before the storage closes; where it cannot be, closing goes on.
    await Promise.allSettled([keys.close(), quota.close(), stored.close()])
    await redis?.close()
    await storage.close()
  }

  const gatewayOptions = (next: RunningConfig): GatewayOptions => ({
    networks: {
      testnet: networkOptions(next, 'testnet'),
      mainnet: networkOptions(next, 'mainnet'),
    },
    keys,
    ...(next.publicUrl === undefined ? {} : { publicUrl: next.publicUrl }),
    services: next.services,
    unsafeNodeMethods,
    limits: next.bounds,
    rates,
    quota,
    quotaStatus: next.quotaStatus,
    meter,
    trustedProxies: next.trustedProxies,
    rehearsalKeys,
    now,
    ...tlsOf(next),
    elsewhere: (request, response, requestId) =>
      config.control === undefined && site !== undefined && site(request, response, requestId),
    degraded,
    // Prometheus counts requests by what the log is told.
    logRequests: next.logRequests || prometheus !== undefined,
    log,
  })

  const siteFor = (next: RunningConfig, urls: { networks: string; site: string }): Site =>
    createSite({
      publicUrl: urls.site,
      networksUrl: urls.networks,
      control,
      folder: next.dashboard?.folder,
      clientIp: createClientIp(next.trustedProxies),
      log,
    })
  const refuseSite = (response: ServerResponse): void => {
    response.writeHead(404, { 'Content-Length': 0 }).end()
  }
  const controlServer = ((): Server | undefined => {
    if (config.control === undefined) return undefined
    const tls = readTls(config)
    const server = createControlServer({ bounds: config.bounds, tls })
    server.on('request', (request, response) => {
      if (site === undefined || !site(request, response, randomUUID())) refuseSite(response)
    })
    return server
  })()

  let gateway: ReturnType<typeof createGateway>
  try {
    gateway = createGateway(gatewayOptions(config))
  } catch (error) {
    await closeParts()
    throw asConfigError(error)
  }

  let closed: Promise<void> | undefined
  const close = async (graceMs: number): Promise<void> => {
    await Promise.all([gateway.close({ graceMs }), controlServer && stopListening(controlServer, graceMs)])
    await prometheus?.close()
    await closeParts()
  }

  return {
    storage,
    accounts,
    provideAccount: (wanted) =>
      provideAccount({ storage, accounts, secrets, now }, wanted, {
        chain: config.chain.symbol,
        maxApps: config.limits.appsPerUser,
      }),
    listen: async (at = config.listen) => {
      const { url, port } = await gateway.listen(at)
      let siteUrl = url
      if (controlServer !== undefined && config.control !== undefined) {
        const { host } = config.control.listen
        const controlPort = await startListening(controlServer, config.control.listen)
        siteUrl = config.control.publicUrl ?? listeningUrl(host, controlPort)
        log({ event: 'controlListening', port: controlPort, url: siteUrl })
      }
      let prometheusPort: number | undefined
      if (prometheus !== undefined && config.prometheus !== undefined) {
        prometheusPort = await prometheus.listen(config.prometheus)
        log({ event: 'prometheusListening', port: prometheusPort })
      }
      listening = { url, port, siteUrl, ...(prometheusPort === undefined ? {} : { prometheusPort }) }
      site = siteFor(config, urlsOf(config, listening))
      return listening
    },
    reload: async (given, givenSecrets) => {
      const before = fixed(config)
      const needsRestart = Object.entries(fixed(given))
        .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]))
        .map(([name]) => name)
      const { control: _control, tls, prometheus: _prometheus, ...rest } = given
      const next: RunningConfig = {
        ...rest,
        listen: config.listen,
        outageGrant: config.outageGrant,
        retention: config.retention,
        staleKeysForMs: config.staleKeysForMs,
        ...(config.control === undefined
          ? {}
          : { control: { ...config.control, publicUrl: given.control?.publicUrl ?? config.control.publicUrl } }),
        ...(config.prometheus === undefined ? {} : { prometheus: config.prometheus }),
        ...(config.tls === undefined ? {} : { tls: tls ?? config.tls }),
      }
      try {
        // What can fail comes first.
        const nextSite = listening === undefined ? undefined : siteFor(next, urlsOf(next, listening))
        await gateway.reload(gatewayOptions(next))
        config = next
        site = nextSite
        if (givenSecrets !== undefined) secrets.splice(0, secrets.length, ...givenSecrets)
        keys.forget('all')
        const renewed = readTls(next)
        if (controlServer !== undefined && 'setSecureContext' in controlServer && renewed !== undefined)
          (controlServer as ReturnType<typeof createTlsServer>).setSecureContext(renewed)
      } catch (error) {
        throw asConfigError(error)
      }
      return needsRestart
    },
    close: ({ graceMs = defaultGraceMs } = {}) => (closed ??= close(graceMs)),
  }
}

const defaultGraceMs = 10_000

const networkOptions = (config: RunningConfig, network: Network) => {
  const { upstreams, ...rest } = config.networks[network]
  return {
    ...rest,
    upstreams: upstreams.map(({ url = '', name }) => ({ url, ...(name === undefined ? {} : { name }) })),
  }
}

/** The gateway names an option as the config does, but for its limits. */
const asConfigError = (error: unknown): unknown => {
  if (!(error instanceof TypeError)) return error
  const [, path = 'the config', mend = error.message] = /^([a-z]\w*(?:[.[][\w\].]*)?) (.*)$/.exec(error.message) ?? []
  return new ConfigError([{ path: path.replace(/^limits\./, 'bounds.'), mend }])
}
