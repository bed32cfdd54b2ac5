import type { IncomingMessage, ServerResponse } from 'node:http'
import type { createServer as createTlsServer } from 'node:https'
import { createAccounts } from '../control/account/createAccounts.ts'
import type { Accounts } from '../control/account/accounts.ts'
import { createControl } from '../control/createControl.ts'
import { createControlServer, setControlBounds } from './createControlServer.ts'
import { createGateway } from '../proxy/createGateway.ts'
import type { GatewayOptions } from '../proxy/gatewayOptions.ts'
import { createClientIp, mayBeProxy } from '../lib/ip/clientIp.ts'
import { getRequestId } from '../proxy/http/getRequestId.ts'
import { listenOn, stopListening } from '../proxy/http/listenOn.ts'
import { createProxyWarning } from '../proxy/http/proxyWarning.ts'
import { createStoredKeys } from '../auth/key/createStoredKeys.ts'
import { createRateLimiter } from '../usage/rateLimit/createRateLimiter.ts'
import type { Meter } from '../usage/metering/meter.ts'
import { createMeter } from '../usage/metering/createMeter.ts'
import { createReadMetrics } from '../usage/metering/createReadMetrics.ts'
import { createQuota } from '../usage/quota/createQuota.ts'
import type { Change } from '../storage/changes.ts'
import { openStorage } from '../storage/openStorage.ts'
import type { Storage, StorageOptions } from '../storage/openStorage.ts'
import { isStorageError } from '../errors/storageError.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import { checkSecrets } from './checkSecrets.ts'
import { asConfigError } from './configError.ts'
import { limitsOf, networkOptions, retentionOf, urlsOf } from './fromConfig.ts'
import { createDrainDelay } from './createDrainDelay.ts'
import { openRedisParts } from './openRedisParts.ts'
import { createPrometheus } from './prometheus.ts'
import { provideAccount } from './provideAccount.ts'
import type { ProvidedAccount } from './provideAccount.ts'
import type { ServerSecrets } from './readServerSecrets.ts'
import { readTls } from './readTls.ts'
import { nextConfig } from './runningConfig.ts'
import type { RunningConfig } from './runningConfig.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { createSite } from './site.ts'
import type { Site } from './site.ts'
import { startUpkeep } from './startUpkeep.ts'
import { watchStores } from './watchStores.ts'

/** What a service is made of. */
export interface ServiceOptions {
  /** Where `publicUrl` is left out, it is where the service listens. */
  readonly config: RunningConfig
  /** Keys are sealed under the newest. */
  readonly secrets: ServerSecrets
  readonly storage: StorageOptions
  /** Where instances of one service share their rates a second, and tell each other of changes at once. A secret. */
  readonly redisUrl?: string | undefined
  /** At least 32 characters: who has it may do what an operator may. A secret. */
  readonly operatorToken?: string | undefined
  /** Opens the embedded nodes' own methods. For development only. @default false */
  readonly unsafeNodeMethods?: boolean
  /** Answers to `kr_test_…` as a service at its limit does. For development only. @default false */
  readonly testKeys?: boolean
  /** Told of each request and each change. */
  readonly log?: ((entry: ServiceLogEntry) => void) | undefined
  /** How many lines of the log were dropped so far, for Prometheus. @default none */
  readonly droppedLogLines?: (() => number) | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}

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
  reload(config: RunningConfig, secrets?: ServerSecrets): Promise<readonly string[]>
  /** @see provideAccount */
  provideAccount(wanted: ProvidedAccount): Promise<ProvidedAccount>
  readonly storage: Storage
  readonly accounts: Accounts
  /**
   * Stops. During the drain delay `/readyz` responds with 503, and calls and the control API are still accepted and served, with
   * `Connection: close`. Then the service stops listening, completes the requests that are in flight, writes everything that is not written
   * yet, and closes the storage.
   * @param options.drainDelayMs - In milliseconds. @default drainDelayMs of the config, or 0
   * @param options.graceMs - How long after the drain delay requests may take to complete until they are cut off, in milliseconds.
   * @default 10_000
   */
  close(options?: CloseOptions): Promise<void>
  /**
   * Ends the drain delay of a `close()` early.
   * @returns Whether there was one.
   */
  skipDrainDelay(): boolean
}

/** How a service stops: see {@link Service.close}. */
export interface CloseOptions {
  readonly drainDelayMs?: number
  readonly graceMs?: number
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
  const { now = Date.now, unsafeNodeMethods = false, testKeys = false } = options
  let { config } = options
  // Kept as one list whose members are exchanged, since the control API was given it.
  const secrets: [ServerSecret, ...ServerSecret[]] = [...options.secrets]
  let site: Site | undefined
  let listening: Listening | undefined
  /** Whether it is about to stop. */
  let leaving = false

  const log = (entry: ServiceLogEntry): void => {
    prometheus?.see(entry)
    try {
      options.log?.(entry)
    } catch {
      // A log that fails is no reason for the service to fail.
    }
  }
  const prometheus =
    config.prometheus === undefined
      ? undefined
      : createPrometheus({
          upstreams: () => gateway.upstreams(),
          parts: () => stores.states(),
          droppedLogLines: options.droppedLogLines,
        })

  checkSecrets(options)
  const tlsAtStart = readTls(config)
  const storage = await openStorage(options.storage)
  const redis = await openRedisParts(options.redisUrl, (changes) => keys.forget(changes))
  const stores = watchStores(
    [
      {
        name: 'database' as const,
        ping: () => storage.ping(),
        // PostgreSQL that cannot be reached is bridged by outageGrant. Any other failed write also fails the quota, and with it the calls.
        isFatal: (error) => storage.db.kind === 'sqlite' || isStorageError(error, 'failed'),
      },
      ...(redis === undefined ? [] : [{ name: 'redis' as const, ping: () => redis.link.ping() }]),
    ],
    log,
  )
  const keys = createStoredKeys({
    storage,
    limitsOf: (access) => limitsOf(config, access),
    staleKeysForMs: config.staleKeysForMs,
    now: options.now,
  })
  const accounts = createAccounts({
    storage,
    signUp: () => config.signUp,
    secrets,
    operatorToken: options.operatorToken,
    auditDays: config.retention.auditDays,
    now: options.now,
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
            const [, network, method, outcome, , items] = counted
            prometheus.count(network, method, outcome, items)
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
      const { networks, site: controlUrl } = urlsOf(config, listening?.url)
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
    now: options.now,
  })
  const stopUpkeep = startUpkeep({ work: accounts.prune, everyMs: upkeepMs })
  const closeParts = async (): Promise<void> => {
    stopUpkeep()
    stores.stop()
    // What callers used is written before the storage closes; where it cannot be, closing goes on.
    await Promise.allSettled([keys.close(), quota.close(), stored.close()])
    await redis?.close()
    await storage.close()
  }

  const gatewayOptions = (next: RunningConfig, tls: GatewayOptions['tls']): GatewayOptions => ({
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
    testKeys,
    now,
    ...(tls === undefined ? {} : { tls }),
    elsewhere: (request, response, requestId) =>
      config.control === undefined && site !== undefined && site(request, response, requestId),
    degraded,
    notReady: () => stores.fatal(),
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
  const rejectSite = (response: ServerResponse): void => {
    response.writeHead(404, { 'Content-Length': 0 }).end()
  }
  let gateway: ReturnType<typeof createGateway>
  try {
    gateway = createGateway(gatewayOptions(config, tlsAtStart))
  } catch (error) {
    await closeParts()
    throw asConfigError(error)
  }
  const idOf = (request: IncomingMessage): string => getRequestId(createClientIp(config.trustedProxies), request)
  const warnOfProxy = createProxyWarning({ warn: (what) => log({ event: 'warning', what }) })
  const controlServer =
    config.control === undefined
      ? undefined
      : createControlServer({
          bounds: config.bounds,
          tls: tlsAtStart,
          leaving: () => leaving,
          isProxy: (ip) => mayBeProxy(createClientIp(config.trustedProxies), ip),
          answer: (request, response) => {
            warnOfProxy(request, createClientIp(config.trustedProxies))
            if (site === undefined || !site(request, response, idOf(request))) rejectSite(response)
          },
        })

  let closed: Promise<void> | undefined
  const drainDelay = createDrainDelay()
  const close = async ({
    graceMs = defaultGraceMs,
    drainDelayMs = config.drainDelayMs ?? 0,
  }: CloseOptions): Promise<void> => {
    if (drainDelayMs > 0 && listening !== undefined) {
      leaving = true
      gateway.prepareToClose()
      log({ event: 'drainDelay', delayMs: drainDelayMs })
      await drainDelay.wait(drainDelayMs)
    }
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
        const controlPort = await listenOn(controlServer, config.control.listen)
        siteUrl = config.control.publicUrl
        log({ event: 'controlListening', port: controlPort, url: siteUrl })
      }
      let prometheusPort: number | undefined
      if (prometheus !== undefined && config.prometheus !== undefined) {
        prometheusPort = await prometheus.listen(config.prometheus)
        log({ event: 'prometheusListening', port: prometheusPort })
      }
      listening = { url, port, siteUrl, ...(prometheusPort === undefined ? {} : { prometheusPort }) }
      site = siteFor(config, urlsOf(config, url))
      return listening
    },
    reload: async (given, givenSecrets) => {
      const { next, needsRestart } = nextConfig(config, given)
      try {
        // What can fail comes first.
        const nextSite = listening === undefined ? undefined : siteFor(next, urlsOf(next, listening.url))
        const tls = readTls(next)
        await gateway.reload(gatewayOptions(next, tls))
        config = next
        site = nextSite
        if (givenSecrets !== undefined) secrets.splice(0, secrets.length, ...givenSecrets)
        keys.forget('all')
        if (controlServer !== undefined) setControlBounds(controlServer, next.bounds)
        if (controlServer !== undefined && 'setSecureContext' in controlServer && tls !== undefined)
          (controlServer as ReturnType<typeof createTlsServer>).setSecureContext(tls)
      } catch (error) {
        throw asConfigError(error)
      }
      return needsRestart
    },
    close: (closing = {}) => (closed ??= close(closing)),
    skipDrainDelay: drainDelay.skip,
  }
}

const defaultGraceMs = 10_000
/** Those who log in delete old things too: this is for where nobody does. */
const upkeepMs = 60 * 60_000
