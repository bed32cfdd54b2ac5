import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createAlerts } from '../alerts/createAlerts.ts'
import { sendWebhook } from '../alerts/sendWebhook.ts'
import { createStoredKeys } from '../auth/key/createStoredKeys.ts'
import { createAccounts } from '../control/account/createAccounts.ts'
import { createControl } from '../control/createControl.ts'
import { isStorageError } from '../errors/storageError.ts'
import { createClientIp, mayBeProxy } from '../lib/ip/clientIp.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import type { Network } from '../lib/network.ts'
import { getUtcDay } from '../lib/utcDay.ts'
import { createMailer } from '../email/createMailer.ts'
import { describeEmailError } from '../email/sendBySmtp.ts'
import { createOidcClient } from '../oidc/createOidcClient.ts'
import { createGateway } from '../proxy/createGateway.ts'
import type { Gateway } from '../proxy/gateway.ts'
import type { GatewayOptions } from '../proxy/gatewayOptions.ts'
import { getRequestId } from '../proxy/http/getRequestId.ts'
import { getHighestWeight } from '../proxy/method/weights.ts'
import type { MethodWeights } from '../proxy/method/weights.ts'
import { listenOn, stopListening } from '../proxy/http/listenOn.ts'
import { createProxyWarning } from '../proxy/http/proxyWarning.ts'
import type { Change } from '../storage/changes.ts'
import { openStorage } from '../storage/openStorage.ts'
import { createMeter } from '../usage/metering/createMeter.ts'
import { joinAlongside } from '../usage/metering/joinAlongside.ts'
import { dayMs } from '../usage/metering/usageTime.ts'
import { createAllowListUses } from '../usage/allowListUses/createAllowListUses.ts'
import { createRequestLog } from '../usage/requestLog/createRequestLog.ts'
import { createRequestLogUpkeep } from '../usage/requestLog/requestLogUpkeep.ts'
import { createReadActivity } from '../usage/metering/createReadActivity.ts'
import { createReadTraffic } from '../usage/metering/createReadTraffic.ts'
import { createReadMetrics } from '../usage/metering/createReadMetrics.ts'
import { createAccountDays } from '../usage/limits/accountDays.ts'
import { createLedger } from '../usage/limits/ledger.ts'
import { countDecisions } from '../usage/limits/countDecisions.ts'
import { createLocalLimits } from '../usage/limits/createLocalLimits.ts'
import { asConfigError } from './configError.ts'
import { createControlServer, updateControlServer } from './createControlServer.ts'
import { createDrainDelay } from './createDrainDelay.ts'
import { toKeyLimits, toNetworksOptions, toRetention, toUrls } from './fromConfig.ts'
import type { ServiceUrls } from './fromConfig.ts'
import { openRedisParts } from './openRedisParts.ts'
import type { RedisParts } from './openRedisParts.ts'
import { createPrometheus } from './prometheus.ts'
import { provideAccount } from './provideAccount.ts'
import { readTls } from './readTls.ts'
import { openTracing } from './tracing/openTracing.ts'
import type { Tracing } from './tracing/openTracing.ts'
import { resolveNetworkLimits } from './networkLimits.ts'
import type { LimitsByNetwork } from './networkLimits.ts'
import { planReload } from './runningConfig.ts'
import type { RunningConfig } from './runningConfig.ts'
import { checkCredentials } from './serviceEnvironment.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { createSite } from './site.ts'
import type { Site } from './site.ts'
import type { CloseOptions, Listening, Service, ServiceOptions } from './service.ts'
import { startUpkeep } from './startUpkeep.ts'
import { watchStores } from './watchStores.ts'
import { withPrometheus } from './withPrometheus.ts'

const defaultGraceMs = 10_000
/** Log-ins delete expired rows too; this also runs without log-ins. */
const upkeepMs = 60 * 60_000
/** Rows of past days that upkeep merges in one transaction. */
const rowsAtOnce = 500
const alertsMs = 30_000

/**
 * Creates a service and opens its storage. It does not listen before `listen()`.
 * @throws {ConfigError} if the config cannot be used. {StorageError} if the storage cannot be opened.
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
  let limitsByNetwork = resolveNetworkLimits(config)
  /** One array, whose elements a reload replaces: accounts and the control API hold a reference to it. */
  const secrets: [ServerSecret, ...ServerSecret[]] = [...options.secrets]
  let listening: Listening | undefined
  let site: Site | undefined
  let isClosing = false

  // Check what can be checked before anything is opened.
  checkCredentials(options)
  const initialTls = readTls(config)

  // Log and metrics
  const prometheus =
    config.prometheus === undefined
      ? undefined
      : await createPrometheus({
          version: options.version,
          upstreams: () => gateway.upstreams(),
          webSockets: () => gateway.webSockets(),
          load: () => gateway.load(),
          keys: () => keys.cacheState(),
          limits: () => readLimitCounts(),
          stores: () => ({
            stores: stores.states(),
            pool: storage.pool?.(),
            redisPending: redis?.link.pending(),
          }),
          metering: () => storedMeter.status(),
          droppedRequests: () => requestLog.dropped(),
          droppedLogLines: options.droppedLogLines,
        })
  const log = (entry: ServiceLogEntry): void => {
    prometheus?.observe(entry)
    try {
      options.log?.(entry)
    } catch {
      // A failing log must not fail the service.
    }
  }

  // Stores
  const storage = await openStorage({ postgres: config.postgres, ...options.storage })
  const openRedis = async (): Promise<RedisParts | undefined> => {
    try {
      return await openRedisParts({
        url: options.redisUrl,
        onChange: (changes) => keys.forget(changes),
        warn: (what) => log({ event: 'warning', what }),
      })
    } catch (error) {
      await storage.close()
      throw error
    }
  }
  const redis = await openRedis()
  const stores = watchStores(
    [
      {
        name: 'database',
        ping: () => storage.ping(),
        // While PostgreSQL is unreachable, calls go on. Any other failed write fails the quotas too, and with them the calls.
        isFatal: (error) => storage.db.kind === 'sqlite' || isStorageError(error, 'failed'),
      },
      ...(redis === undefined ? [] : [{ name: 'redis' as const, ping: () => redis.link.ping() }]),
    ],
    log,
  )
  const degraded = (): readonly string[] => stores.unavailable()

  // Keys and accounts
  const allowListUses = createAllowListUses({ storage, now })
  const keys = createStoredKeys({
    storage,
    getLimits: (access) => toKeyLimits(config, limitsByNetwork, access),
    onAllowListUse: ({ id }) => {
      if (id !== undefined) allowListUses.record(id)
    },
    staleKeysForMs: config.staleKeysForMs,
    maxEntries: config.maxCachedKeys,
    now: options.now,
  })
  const forget = (changes: readonly Change[]): void => {
    keys.forget(changes)
    redis?.invalidation.publish(changes)
  }
  const mailer = createMailer({ config: () => config.email, onEvent: log })
  const accounts = createAccounts({
    storage,
    signUp: () => config.signUp,
    passwordLogin: () => config.passwordLogin,
    oidc: {
      client: createOidcClient({ config: () => config.oidc, onEvent: log, now: options.now }),
      siteUrl: () => siteUrl(),
    },
    minBurst: () => getHighestWeight(config.limits.weights, limitsByNetwork),
    secrets,
    operatorToken: options.operatorToken,
    auditDays: config.retention.auditDays,
    now: options.now,
    onChange: forget,
    mailer: { ...mailer, siteUrl: () => siteUrl() },
  })

  // Usage
  const accountDays = createAccountDays(storage)
  const ledger = redis && createLedger(accountDays)
  const requestLog = createRequestLog({
    storage,
    settings: () => (config.requestLog.enabled ? config.requestLog : undefined),
    now,
  })
  const storedMeter = createMeter({
    storage,
    retention: toRetention(config),
    now,
    onEvent: log,
    alongside: joinAlongside([...(ledger === undefined ? [] : [ledger]), requestLog, allowListUses]),
    upkeep: createRequestLogUpkeep(storage, { retentionMs: config.retention.requestsDays * dayMs }),
  })
  const limitsOptions = { outageGrant: config.outageGrant, now, onEvent: log }
  const uncountedLimits =
    redis === undefined || ledger === undefined
      ? createLocalLimits({ ...limitsOptions, storage, rates: options.worker?.rates })
      : redis.createLimits({ ...limitsOptions, rows: accountDays, ledger, flush: () => storedMeter.flush() })
  const [countedLimits, readLimitCounts] = countDecisions(uncountedLimits)
  const usageLimits = prometheus === undefined ? uncountedLimits : countedLimits
  const getWeights = (network: Network): MethodWeights => (limitsByNetwork[network] ?? config.limits).weights
  const meter = prometheus === undefined ? storedMeter : withPrometheus(storedMeter, prometheus, getWeights)

  const stopUpkeep = startUpkeep({
    work: async () => {
      await accounts.prune()
      const today = getUtcDay(now())
      while ((await accountDays.compact(today, rowsAtOnce)) === rowsAtOnce);
    },
    everyMs: upkeepMs,
  })

  // Alerts
  const webhookOptions = () => ({ allowPrivate: config.webhooks.allowPrivateAddresses, now: now() })
  const siteUrl = (): string => toUrls(config, listening?.url).site
  const alerts = createAlerts({
    storage,
    usageLimits,
    getPerDay: ({ app, user }) => toKeyLimits(config, limitsByNetwork, { app, user, networks: [] }).perDay,
    secrets,
    sendWebhook: (request) => sendWebhook(request, webhookOptions()),
    sendEmail: mailer.getSend,
    describeEmailError,
    siteUrl,
    onEvent: log,
    leader: randomUUID(),
    now,
  })
  const stopAlerts = startUpkeep({ work: alerts.run, everyMs: alertsMs })

  // Control API
  const control = createControl({
    storage,
    accounts,
    usageLimits,
    readMetrics: createReadMetrics({ storage }),
    readActivity: createReadActivity({ storage }),
    readTraffic: createReadTraffic({ storage }),
    keys: { forget },
    requestLog,
    secrets,
    config: () => ({
      signUp: config.signUp,
      email: config.email !== undefined,
      passwordLogin: config.passwordLogin,
      oidc: config.oidc && { label: config.oidc.label },
      reveal: config.reveal === 'onDemand',
      registries: config.registries,
      recordsRequests: config.requestLog.enabled,
      docsUrl: config.docsUrl,
      maxApps: config.limits.appsPerUser,
      limits: { app: config.limits.apps, apiKey: config.limits.apiKeys },
      weights: config.limits.weights,
      networks: limitsByNetwork,
    }),
    deployment: () => {
      const urls = toUrls(config, listening?.url)
      return {
        publicUrl: urls.networks,
        controlUrl: urls.site,
        chains: config.chains,
        networks: config.networks,
      }
    },
    degraded,
    upstreams: () => gateway.upstreams(),
    webhooks: { options: webhookOptions, send: sendWebhook },
    log,
    now: options.now,
  })
  const createSiteFor = (next: RunningConfig, urls: ServiceUrls): Site =>
    createSite({
      publicUrl: urls.site,
      networksUrl: urls.networks,
      control,
      folder: next.dashboard?.folder,
      clientIp: createClientIp(next.trustedProxies),
      log,
    })

  const closeParts = async (): Promise<void> => {
    stopUpkeep()
    stopAlerts()
    stores.stop()
    await mailer.close()
    // Usage is written before the storage closes. If that fails, closing continues.
    await Promise.allSettled([keys.close(), usageLimits.close(), requestLog.close()])
    await storedMeter.close()
    await redis?.close()
    await storage.close()
  }

  // Tracing
  const openTracingFor = async ({ tracing: wanted }: RunningConfig): Promise<Tracing | undefined> =>
    wanted &&
    openTracing({
      config: wanted,
      version: options.version ?? 'unknown',
      warn: (what) => log({ event: 'warning', what }),
    })
  let tracing: Tracing | undefined

  // Gateway
  const toGatewayOptions = (
    next: RunningConfig,
    byNetwork: LimitsByNetwork,
    { tls, tracing }: { tls: GatewayOptions['tls']; tracing: Tracing | undefined },
  ): GatewayOptions => ({
    networks: toNetworksOptions(next, byNetwork),
    ...(next.networkHosts === undefined ? {} : { networkHosts: next.networkHosts }),
    keys,
    ...(next.publicUrl === undefined ? {} : { publicUrl: next.publicUrl }),
    services: next.services,
    unsafeNodeMethods,
    limits: next.bounds,
    webSocket: next.webSocket,
    usageLimits,
    weights: next.limits.weights,
    compression: next.compression,
    quotaStatus: next.quotaStatus,
    meter,
    requestLog,
    tracer: tracing?.tracer,
    trustedProxies: next.trustedProxies,
    testKeys,
    now,
    ...(tls === undefined ? {} : { tls }),
    fallback: (request, response, requestId) =>
      config.control === undefined && site !== undefined && site(request, response, requestId),
    degraded,
    notReady: () => stores.fatal(),
    // Prometheus counts requests from log entries.
    logRequests: next.logRequests || prometheus !== undefined,
    log,
  })
  let gateway: Gateway
  try {
    tracing = await openTracingFor(config)
    gateway = createGateway(toGatewayOptions(config, limitsByNetwork, { tls: initialTls, tracing }))
  } catch (error) {
    await closeParts()
    throw asConfigError(error)
  }

  // The control API's own port
  const warnAboutProxy = createProxyWarning({ warn: (what) => log({ event: 'warning', what }) })
  const handleControl = (request: IncomingMessage, response: ServerResponse): void => {
    const clientIp = createClientIp(config.trustedProxies)
    warnAboutProxy(request, clientIp)
    const isHandled = site !== undefined && site(request, response, getRequestId(clientIp, request))
    if (!isHandled) response.writeHead(404, { 'Content-Length': 0 }).end()
  }
  const controlServer =
    config.control === undefined
      ? undefined
      : createControlServer({
          bounds: config.bounds,
          tls: initialTls,
          isClosing: () => isClosing,
          isProxy: (ip) => mayBeProxy(createClientIp(config.trustedProxies), ip),
          handle: handleControl,
        })

  const listen: Service['listen'] = async (at = config.listen) => {
    const { url, port } = await gateway.listen(at)
    let siteUrl = url
    if (controlServer !== undefined && config.control !== undefined) {
      const controlPort = await listenOn(controlServer, config.control.listen)
      siteUrl = config.control.publicUrl
      log({ event: 'controlListening', port: controlPort, url: siteUrl })
    }
    let prometheusPort: number | undefined
    if (prometheus !== undefined && config.prometheus !== undefined && options.worker === undefined) {
      prometheusPort = await prometheus.listen(config.prometheus)
      log({ event: 'prometheusListening', port: prometheusPort })
    }
    listening = { url, port, siteUrl, ...(prometheusPort === undefined ? {} : { prometheusPort }) }
    site = createSiteFor(config, toUrls(config, url))
    return listening
  }

  const reload: Service['reload'] = async (changed, changedSecrets) => {
    const { next, needsRestart } = planReload(config, changed)
    try {
      // First the steps that can fail.
      const nextSite = listening === undefined ? undefined : createSiteFor(next, toUrls(next, listening.url))
      const tls = readTls(next)
      const nextLimits = resolveNetworkLimits(next)
      const isTracedAsBefore = JSON.stringify(next.tracing) === JSON.stringify(config.tracing)
      const nextTracing = isTracedAsBefore ? tracing : await openTracingFor(next)
      try {
        await gateway.reload(toGatewayOptions(next, nextLimits, { tls, tracing: nextTracing }))
      } catch (error) {
        if (!isTracedAsBefore) await nextTracing?.close()
        throw error
      }
      if (!isTracedAsBefore) void tracing?.close()
      tracing = nextTracing
      config = next
      limitsByNetwork = nextLimits
      site = nextSite
      if (changedSecrets !== undefined) secrets.splice(0, secrets.length, ...changedSecrets)
      keys.renewLimits()
      if (controlServer !== undefined) updateControlServer(controlServer, { bounds: next.bounds, tls })
    } catch (error) {
      throw asConfigError(error)
    }
    return needsRestart
  }

  const drainDelay = createDrainDelay()
  const closeOnce = async ({
    graceMs = defaultGraceMs,
    drainDelayMs = config.drainDelayMs ?? 0,
    handOverMs = 0,
  }: CloseOptions): Promise<void> => {
    if (handOverMs > 0) {
      isClosing = true
      gateway.prepareToClose({ windowMs: handOverMs, handsOver: true })
      await drainDelay.wait(handOverMs)
    } else if (drainDelayMs > 0 && listening !== undefined) {
      isClosing = true
      gateway.prepareToClose({ windowMs: drainDelayMs })
      log({ event: 'drainDelay', delayMs: drainDelayMs })
      await drainDelay.wait(drainDelayMs)
    }
    await Promise.all([gateway.close({ graceMs }), controlServer && stopListening(controlServer, graceMs)])
    await prometheus?.close()
    await tracing?.close()
    await closeParts()
  }
  let closed: Promise<void> | undefined

  return {
    storage,
    accounts,
    provideAccount: (wanted) =>
      provideAccount({ storage, accounts, secrets, now }, wanted, {
        networks: config.networks,
        maxApps: config.limits.appsPerUser,
      }),
    listen,
    reload,
    metrics: async () => (await prometheus?.json()) ?? [],
    log,
    close: (closeOptions = {}) => (closed ??= closeOnce(closeOptions)),
    skipDrainDelay: drainDelay.skip,
  }
}
