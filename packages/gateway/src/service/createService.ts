import { randomUUID } from 'node:crypto'
import { createAlerts } from '../alerts/createAlerts.ts'
import { sendWebhook } from '../alerts/sendWebhook.ts'
import { createStoredKeys } from '../auth/key/createStoredKeys.ts'
import { createAccounts } from '../control/account/createAccounts.ts'
import { createControl } from '../control/createControl.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import { getUtcDay } from '../lib/utcDay.ts'
import { createMailer } from '../email/createMailer.ts'
import { describeEmailError } from '../email/sendBySmtp.ts'
import { createOidcClient } from '../oidc/createOidcClient.ts'
import { createGateway } from '../proxy/createGateway.ts'
import type { Gateway } from '../proxy/gateway.ts'
import type { GatewayConfig } from '../proxy/gatewayOptions.ts'
import { getHighestWeight } from '../proxy/method/weights.ts'
import type { Change } from '../storage/changes.ts'
import { openStorage } from '../storage/openStorage.ts'
import { createReadActivity } from '../usage/metering/createReadActivity.ts'
import { createReadTraffic } from '../usage/metering/createReadTraffic.ts'
import { createReadMetrics } from '../usage/metering/createReadMetrics.ts'
import { checkSecret, describeSecretProblem, isWrongSecret, wrongSecretError } from './checkSecret.ts'
import type { SecretCheck } from './checkSecret.ts'
import { createDrainDelay } from './createDrainDelay.ts'
import { createSiteHost } from './createSiteHost.ts'
import { toControlConfig, toDeployment, toKeyLimits, toUrls } from './fromConfig.ts'
import { openRedisParts } from './openRedisParts.ts'
import type { RedisParts } from './openRedisParts.ts'
import { openUsage } from './openUsage.ts'
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
import type { CloseOptions, Listening, Service, ServiceOptions } from './service.ts'
import { startUpkeep } from './startUpkeep.ts'
import { toGatewayConfig } from './toGatewayConfig.ts'
import { watchServiceStores } from './watchServiceStores.ts'

const defaultGraceMs = 10_000
/** Log-ins delete expired rows too; this also runs without log-ins. */
const upkeepMs = 60 * 60_000
/** Rows of past days that upkeep merges in one transaction. */
const rowsAtOnce = 500
const alertsMs = 30_000

/**
 * Creates a service and opens its storage. It does not listen before `listen()`.
 * @throws {ConfigError} if the config cannot be used, or the secrets decrypt none of the stored keys. {StorageError} if the storage cannot be opened.
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
  const { now = Date.now, developmentMethods, testKeys = false } = options
  let { config } = options
  let limitsByNetwork = resolveNetworkLimits(config)
  /** One array, whose elements a reload replaces: accounts and the control API hold a reference to it. */
  const secrets: [ServerSecret, ...ServerSecret[]] = [...options.secrets]
  let listening: Listening | undefined
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
          limits: () => usage.limitCounts(),
          stores: () => ({
            stores: stores.states(),
            pool: storage.pool?.(),
            redisPending: redis?.link.pending(),
          }),
          metering: () => usage.metering(),
          droppedRequests: () => usage.requestLog.dropped(),
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
  // Secret
  let secretCheck: SecretCheck
  try {
    secretCheck = await checkSecret(storage.keys, secrets)
    if (isWrongSecret(secretCheck) && options.newSecret !== true) throw wrongSecretError(secretCheck)
  } catch (error) {
    await storage.close()
    throw error
  }
  const warnAboutSecret = (): void => {
    const problem = describeSecretProblem(secretCheck)
    if (problem !== undefined)
      log({ event: 'warning', what: `${problem}: the others work, but cannot be shown again. Is it the right secret?` })
  }
  warnAboutSecret()

  const openRedis = async (): Promise<RedisParts | undefined> => {
    try {
      return await openRedisParts({
        url: options.redisUrl,
        secret: secrets[0],
        onChange: (changes) => keys.forget(changes),
        warn: (what) => log({ event: 'warning', what }),
      })
    } catch (error) {
      await storage.close()
      throw error
    }
  }
  const redis = await openRedis()

  // Usage
  const usage = openUsage({
    storage,
    redis,
    config: () => config,
    getWeights: (network) => (limitsByNetwork[network] ?? config.limits).weights,
    prometheus,
    log,
    now,
  })

  // Keys and accounts
  const keys = createStoredKeys({
    storage,
    getLimits: (access) => toKeyLimits(config, limitsByNetwork, access),
    trackAllowListUse: ({ id }) => (id === undefined ? () => {} : usage.allowListUses.track(id)),
    staleKeysForMs: config.staleKeysForMs,
    maxEntries: config.maxCachedKeys,
    now: options.now,
  })
  const stores = watchServiceStores({ storage, redis, keys, log })
  const degraded = (): readonly string[] => stores.unavailable()
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

  const stopUpkeep = startUpkeep({
    work: async () => {
      await accounts.prune()
      const today = getUtcDay(now())
      while ((await usage.accountDays.compact(today, rowsAtOnce)) === rowsAtOnce);
    },
    everyMs: upkeepMs,
  })

  // Alerts
  const webhookOptions = () => ({ allowPrivate: config.webhooks.allowPrivateAddresses, now: now() })
  const siteUrl = (): string => toUrls(config, listening?.url).site
  const alerts = createAlerts({
    storage,
    usageLimits: usage.limits,
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
    usageLimits: usage.limits,
    readMetrics: createReadMetrics({ storage }),
    readActivity: createReadActivity({ storage }),
    readTraffic: createReadTraffic({ storage }),
    keys: { forget },
    requestLog: usage.requestLog,
    secrets,
    config: () => toControlConfig(config, limitsByNetwork),
    deployment: () => toDeployment(config, listening?.url),
    degraded,
    upstreams: () => gateway.upstreams(),
    webhooks: { options: webhookOptions, send: sendWebhook },
    log,
    now: options.now,
  })
  const siteHost = createSiteHost({
    control,
    config: () => config,
    tls: initialTls,
    isClosing: () => isClosing,
    log,
  })

  const closeParts = async (): Promise<void> => {
    stopUpkeep()
    stopAlerts()
    stores.stop()
    await mailer.close()
    // Usage is written before the storage closes. If that fails, closing continues.
    await Promise.allSettled([keys.close(), usage.close()])
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
  const toGateway = (
    next: RunningConfig,
    byNetwork: LimitsByNetwork,
    { tls, tracing }: { tls: GatewayConfig['tls']; tracing: Tracing | undefined },
  ): GatewayConfig => ({
    ...toGatewayConfig(next, byNetwork, { tls, tracer: tracing?.tracer }),
    // Prometheus counts requests from log entries.
    logRequests: next.logRequests || prometheus !== undefined,
  })
  let gateway: Gateway
  try {
    tracing = await openTracingFor(config)
    gateway = createGateway(
      {
        keys,
        usageLimits: usage.limits,
        meter: usage.meter,
        requestLog: usage.requestLog,
        ...(developmentMethods === undefined ? {} : { developmentMethods }),
        testKeys,
        now,
        fallback: siteHost.handle,
        degraded,
        details: () => {
          const secret = describeSecretProblem(secretCheck)
          return secret === undefined ? {} : { secret }
        },
        notReady: () => stores.fatal(),
        log,
        checks: redis?.checks,
      },
      toGateway(config, limitsByNetwork, { tls: initialTls, tracing }),
    )
  } catch (error) {
    await closeParts()
    throw error
  }

  const listen: Service['listen'] = async (at = config.listen) => {
    const { url, port } = await gateway.listen(at)
    const siteUrl = await siteHost.listen(url)
    let prometheusPort: number | undefined
    if (prometheus !== undefined && config.prometheus !== undefined) {
      prometheusPort = await prometheus.listen(config.prometheus)
      log({ event: 'prometheusListening', port: prometheusPort })
    }
    listening = { url, port, siteUrl, ...(prometheusPort === undefined ? {} : { prometheusPort }) }
    return listening
  }

  /** Checks changed secrets. While the database is unavailable, a reload does not wait for it. */
  const recheckSecret = async (changed: readonly ServerSecret[]): Promise<SecretCheck> => {
    const isSame =
      changed.length === secrets.length && changed.every(({ key }, index) => secrets[index]?.key.equals(key))
    return isSame ? secretCheck : checkSecret(storage.keys, changed).catch(() => secretCheck)
  }

  const reload: Service['reload'] = async (changed, changedSecrets) => {
    const { next, needsRestart } = planReload(config, changed)
    // First the steps that can fail.
    const tls = readTls(next)
    const applySite = siteHost.prepare(next, tls)
    const nextLimits = resolveNetworkLimits(next)
    const nextCheck = changedSecrets === undefined ? secretCheck : await recheckSecret(changedSecrets)
    if (isWrongSecret(nextCheck) && !isWrongSecret(secretCheck)) throw wrongSecretError(nextCheck)
    const isTracedAsBefore = JSON.stringify(next.tracing) === JSON.stringify(config.tracing)
    const nextTracing = isTracedAsBefore ? tracing : await openTracingFor(next)
    try {
      await gateway.reload(toGateway(next, nextLimits, { tls, tracing: nextTracing }))
    } catch (error) {
      if (!isTracedAsBefore) await nextTracing?.close()
      throw error
    }
    if (!isTracedAsBefore) void tracing?.close()
    tracing = nextTracing
    config = next
    limitsByNetwork = nextLimits
    applySite()
    if (changedSecrets !== undefined) secrets.splice(0, secrets.length, ...changedSecrets)
    if (nextCheck !== secretCheck) {
      secretCheck = nextCheck
      warnAboutSecret()
    }
    keys.renewLimits()
    return needsRestart
  }

  const drainDelay = createDrainDelay()
  const closeOnce = async ({
    graceMs = defaultGraceMs,
    drainDelayMs = config.drainDelayMs ?? 0,
  }: CloseOptions): Promise<void> => {
    if (drainDelayMs > 0 && listening !== undefined) {
      isClosing = true
      gateway.prepareToClose({ windowMs: drainDelayMs })
      log({ event: 'drainDelay', delayMs: drainDelayMs })
      await drainDelay.wait(drainDelayMs)
    }
    await Promise.all([gateway.close({ graceMs }), siteHost.close(graceMs)])
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
    log,
    close: (closeOptions = {}) => (closed ??= closeOnce(closeOptions)),
    skipDrainDelay: drainDelay.skip,
  }
}
