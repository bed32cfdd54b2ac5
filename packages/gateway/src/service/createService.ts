import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { createAlerts } from '../alerts/createAlerts.ts'
import { sendWebhook } from '../alerts/sendWebhook.ts'
import { createStoredKeys } from '../auth/key/createStoredKeys.ts'
import type { Accounts } from '../control/account/accounts.ts'
import { createAccounts } from '../control/account/createAccounts.ts'
import { createControl } from '../control/createControl.ts'
import { getUtcDay } from '../lib/utcDay.ts'
import { createMailer } from '../email/createMailer.ts'
import { describeEmailError } from '../email/sendBySmtp.ts'
import { createOidcClient } from '../oidc/createOidcClient.ts'
import { createGateway } from '../proxy/createGateway.ts'
import type { Gateway } from '../proxy/gateway.ts'
import { getHighestWeight } from '../proxy/method/weights.ts'
import type { Change } from '../storage/changes.ts'
import { openStorage } from '../storage/openStorage.ts'
import type { Storage } from '../storage/openStorage.ts'
import { createReadActivity } from '../usage/metering/createReadActivity.ts'
import { createReadTraffic } from '../usage/metering/createReadTraffic.ts'
import { createReadMetrics } from '../usage/metering/createReadMetrics.ts'
import { createReadRecentCalls } from '../usage/metering/createReadRecentCalls.ts'
import { checkSecret, describeSecretProblem, isWrongSecret, wrongSecretError } from './checkSecret.ts'
import type { SecretCheck } from './checkSecret.ts'
import { createCallRates } from './createCallRates.ts'
import { createDrainDelay } from './createDrainDelay.ts'
import { createReadInstance } from './createReadInstance.ts'
import { createReadProblems } from './createReadProblems.ts'
import { createRecentEvents } from './createRecentEvents.ts'
import { createSiteHost } from './createSiteHost.ts'
import { toControlConfig, toDeployment, toKeyLimits, toUrls } from './fromConfig.ts'
import { openRedisParts } from './openRedisParts.ts'
import { openUsage } from './openUsage.ts'
import type { Usage } from './openUsage.ts'
import { createPrometheus } from './prometheus.ts'
import { provideAccount } from './provideAccount.ts'
import type { StoreLoad } from './metric.ts'
import { getCertificateEnd, readTls } from './readTls.ts'
import { resolveNetworkLimits } from './networkLimits.ts'
import { checkCredentials } from './serviceEnvironment.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import {
  close,
  listen,
  openConfiguredChainStore,
  openConfiguredTracing,
  reload,
  toGateway,
  warnAboutSecret,
} from './runService.ts'
import type { ServiceParts, ServiceState } from './runService.ts'
import type { Service, ServiceOptions } from './service.ts'
import { startUpkeep } from './startUpkeep.ts'
import { watchServiceStores } from './watchServiceStores.ts'

/** Log-ins delete expired rows too; this also runs without log-ins. */
const upkeepMs = 60 * 60_000
/** Rows of past days that upkeep merges in one transaction. */
const rowsAtOnce = 500
const alertsMs = 30_000

/** Starts the work that no call waits for. @returns Stops it. */
const startJobs = ({
  prune,
  compact,
  alerts,
  now,
}: {
  prune: Accounts['prune']
  compact: Usage['accountDays']['compact']
  alerts: ReturnType<typeof createAlerts>
  now: () => number
}): (() => void) => {
  const stops = [
    startUpkeep({
      work: async () => {
        await prune()
        const today = getUtcDay(now())
        while ((await compact(today, rowsAtOnce)) === rowsAtOnce);
      },
      everyMs: upkeepMs,
    }),
    startUpkeep({ work: alerts.find, everyMs: alertsMs }),
    startUpkeep({ work: alerts.deliver, everyMs: alertsMs }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** Opens the storage, and checks that the secrets decrypt its keys. */
const openCheckedStorage = async ({
  config,
  secrets,
  storage: location,
  newSecret = false,
}: ServiceOptions): Promise<{ storage: Storage; secretCheck: SecretCheck }> => {
  const storage = await openStorage({ postgres: config.postgres, ...location })
  try {
    const secretCheck = await checkSecret(storage, secrets)
    if (isWrongSecret(secretCheck) && !newSecret) throw wrongSecretError(secretCheck)
    return { storage, secretCheck }
  } catch (error) {
    await storage.close()
    throw error
  }
}

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
  const { now = Date.now, developmentMethods, testKeys = false, version = 'unknown' } = options
  // Check what can be checked before anything is opened.
  checkCredentials(options)
  const tls = readTls(options.config)
  const limitsByNetwork = resolveNetworkLimits(options.config)

  // Log and metrics
  const rates = createCallRates(now)
  const events = createRecentEvents(now)
  const readStores = (): StoreLoad => ({
    stores: stores.states(),
    pool: storage.pool?.(),
    redisPending: redis?.link.pending(),
  })
  const prometheus =
    options.config.prometheus === undefined
      ? undefined
      : await createPrometheus({
          version,
          upstreams: () => gateway.upstreams(),
          webSockets: () => gateway.webSockets(),
          load: () => gateway.load(),
          chainStore: () => chainStore && { uses: gateway.storeUses(), dropped: chainStore.getDropped() },
          keys: () => keys.cacheState(),
          limits: () => usage.limitCounts(),
          stores: readStores,
          metering: () => usage.metering(),
          droppedRequests: () => usage.requestRecorder.dropped(),
          droppedLogLines: options.droppedLogLines,
        })
  const log = (entry: ServiceLogEntry): void => {
    prometheus?.observe(entry)
    events.observe(entry)
    try {
      options.log?.(entry)
    } catch {
      // A failing log must not fail the service.
    }
  }

  const { storage, secretCheck } = await openCheckedStorage(options)
  warnAboutSecret(secretCheck, log)
  const state: ServiceState = {
    config: options.config,
    limitsByNetwork,
    secrets: [...options.secrets],
    secretCheck,
    listening: undefined,
    isClosing: false,
    tracing: undefined,
    certificateEndsAt: getCertificateEnd(tls),
  }
  const { secrets } = state

  const redis = await openRedisParts({
    url: options.redisUrl,
    secret: secrets[0],
    onChange: (changes) => keys.forget(changes),
    warn: (what) => log({ event: 'warning', what }),
  }).catch(async (error: unknown) => {
    await storage.close()
    throw error
  })

  const chainStore = await openConfiguredChainStore(options.config, log, {
    redisUrl: options.cacheRedisUrl,
    limits: redis?.link,
  }).catch(async (error: unknown) => {
    await redis?.close()
    await storage.close()
    throw error
  })

  // Usage
  const usage = openUsage({
    storage,
    redis,
    config: () => state.config,
    getWeights: (network) => (state.limitsByNetwork[network] ?? state.config.limits).weights,
    prometheus,
    rates,
    log,
    now,
  })

  // Keys and accounts
  const keys = createStoredKeys({
    storage,
    getLimits: (access) => toKeyLimits(state.config, state.limitsByNetwork, access),
    trackAllowListUse: ({ id }) => (id === undefined ? () => {} : usage.allowListUses.track(id)),
    staleKeysForMs: state.config.staleKeysForMs,
    maxEntries: state.config.maxCachedKeys,
    now: options.now,
  })
  const stores = watchServiceStores({
    storage,
    redis,
    chainStore: options.cacheRedisUrl === undefined ? undefined : chainStore,
    keys,
    log,
  })
  const degraded = (): readonly string[] => stores.unavailable()
  const forget = (changes: readonly Change[]): void => {
    keys.forget(changes)
    redis?.invalidation.publish(changes)
  }
  const mailer = createMailer({ config: () => state.config.email, onEvent: log })
  const accounts = createAccounts({
    storage,
    signUp: () => state.config.signUp,
    passwordLogin: () => state.config.passwordLogin,
    oidc: {
      client: createOidcClient({ config: () => state.config.oidc, onEvent: log, now: options.now }),
      siteUrl: () => siteUrl(),
    },
    minBurst: () => getHighestWeight(state.config.limits.weights, state.limitsByNetwork),
    maxApps: () => state.config.limits.appsPerUser,
    secrets,
    operatorToken: options.operatorToken,
    auditDays: state.config.retention.auditDays,
    now: options.now,
    onChange: forget,
    mailer: { ...mailer, siteUrl: () => siteUrl() },
  })

  const webhookOptions = () => ({ allowPrivate: state.config.webhooks.allowPrivateAddresses, now: now() })
  const siteUrl = (): string => toUrls(state.config, state.listening?.url).site
  const files = {
    database: 'file' in options.storage ? options.storage.file : undefined,
    chainStore: options.config.cache?.file,
  }
  const readProblems = createReadProblems({
    lostStores: degraded,
    networks: () => Object.keys(state.config.networks),
    upstreams: () => gateway.upstreams(),
    rates,
    files,
    certificateEndsAt: () => state.certificateEndsAt,
    now,
  })
  // Control API
  const control = createControl({
    storage,
    accounts,
    usageLimits: usage.limits,
    readMetrics: createReadMetrics({ storage }),
    readActivity: createReadActivity({ storage }),
    readTraffic: createReadTraffic({ storage }),
    keys: { forget },
    requestRecorder: usage.requestRecorder,
    secrets,
    config: () => toControlConfig(state.config, state.limitsByNetwork),
    deployment: () => toDeployment(state.config, state.listening?.url),
    degraded,
    upstreams: () => gateway.upstreams(),
    readInstance: createReadInstance({
      version,
      rates,
      events,
      stores: readStores,
      load: () => gateway.load(),
      metering: usage.metering,
      droppedRequests: () => usage.requestRecorder.dropped(),
      droppedLogLines: options.droppedLogLines ?? (() => 0),
      files,
      certificateEndsAt: () => state.certificateEndsAt,
    }),
    readProblems,
    readUpstreamDays: usage.traffic.readDays,
    webhooks: { options: webhookOptions, send: sendWebhook },
    log,
    now: options.now,
  })
  const siteHost = createSiteHost({
    control,
    config: () => state.config,
    tls,
    isClosing: () => state.isClosing,
    log,
  })

  // Alerts need the gateway.
  let stopJobs = (): void => {}
  const closeParts = async (): Promise<void> => {
    stopJobs()
    stores.stop()
    await mailer.close()
    // Usage is written before the storage closes. If that fails, closing continues.
    await Promise.allSettled([keys.close(), usage.close()])
    await chainStore?.close()
    await redis?.close()
    await storage.close()
  }

  // Gateway
  let gateway: Gateway
  try {
    state.tracing = await openConfiguredTracing(state.config, version, log)
    gateway = createGateway(
      {
        keys,
        usageLimits: usage.limits,
        permits: usage.permits,
        traffic: usage.traffic,
        getInstances: redis?.instances.share,
        meter: usage.meter,
        requestRecorder: usage.requestRecorder,
        ...(developmentMethods === undefined ? {} : { developmentMethods }),
        testKeys,
        now,
        fallback: siteHost.handle,
        degraded,
        details: () => {
          const secret = describeSecretProblem(state.secretCheck)
          return secret === undefined ? {} : { secret }
        },
        notReady: () => stores.fatal(),
        log,
        checks: redis?.checks,
        chainStore,
      },
      toGateway(state, tls, prometheus),
    )
  } catch (error) {
    await closeParts()
    throw error
  }

  stopJobs = startJobs({
    prune: accounts.prune,
    compact: usage.accountDays.compact,
    alerts: createAlerts({
      storage,
      usageLimits: usage.limits,
      getPerDay: ({ app, user }) =>
        toKeyLimits(state.config, state.limitsByNetwork, { app, user, networks: [] }).perDay,
      readRecentCalls: createReadRecentCalls({ storage }),
      readProblems,
      secrets,
      sendWebhook: (request) => sendWebhook(request, webhookOptions()),
      sendEmail: mailer.getSend,
      describeEmailError,
      siteUrl,
      onEvent: log,
      leader: randomUUID(),
      instance: hostname(),
      now,
    }),
    now,
  })

  const parts: ServiceParts = {
    log,
    openTracing: (next) => openConfiguredTracing(next, version, log),
    prometheus,
    storage,
    keys,
    gateway,
    siteHost,
    drainDelay: createDrainDelay(),
    closeParts,
  }
  let closed: Promise<void> | undefined

  return {
    storage,
    accounts,
    provideAccount: (wanted) =>
      provideAccount({ storage, accounts, secrets, now }, wanted, {
        networks: state.config.networks,
        maxApps: state.config.limits.appsPerUser,
      }),
    listen: (at) => listen(state, parts, at),
    reload: (changed, changedSecrets) => reload(state, parts, changed, changedSecrets),
    log,
    close: (closeOptions = {}) => (closed ??= close(state, parts, closeOptions)),
    skipDrainDelay: parts.drainDelay.skip,
  }
}
