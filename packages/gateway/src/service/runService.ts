import type { StoredKeys } from '../auth/key/createStoredKeys.ts'
import { isStorageError } from '../errors/storageError.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import type { Gateway } from '../proxy/gateway.ts'
import type { GatewayConfig } from '../proxy/gatewayOptions.ts'
import { openChainStore } from '../storage/chainStore/openChainStore.ts'
import type { ChainStore } from '../storage/chainStore/chainStore.ts'
import type { RedisLink } from '../storage/redis/redisLink.ts'
import { openCacheRedis } from './openCacheRedis.ts'
import type { Storage } from '../storage/openStorage.ts'
import { checkSecret, describeSecretProblem, isWrongSecret, wrongSecretError } from './checkSecret.ts'
import type { SecretCheck } from './checkSecret.ts'
import type { createDrainDelay } from './createDrainDelay.ts'
import type { SiteHost } from './createSiteHost.ts'
import { resolveNetworkLimits } from './networkLimits.ts'
import type { LimitsByNetwork } from './networkLimits.ts'
import type { Prometheus } from './prometheus.ts'
import { getCertificateEnd, readTls } from './readTls.ts'
import { planReload } from './runningConfig.ts'
import type { RunningConfig } from './runningConfig.ts'
import type { CloseOptions, Listening, Service } from './service.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { toGatewayConfig } from './toGatewayConfig.ts'
import { openTracing } from './tracing/openTracing.ts'
import type { Tracing } from './tracing/openTracing.ts'

/** What changes while a service runs. */
export interface ServiceState {
  config: RunningConfig
  limitsByNetwork: LimitsByNetwork
  /** One array, whose elements a reload replaces: accounts and the control API hold a reference to it. */
  readonly secrets: [ServerSecret, ...ServerSecret[]]
  secretCheck: SecretCheck
  listening: Listening | undefined
  /** Whether the drain delay is running. */
  isClosing: boolean
  tracing: Tracing | undefined
  /** When the certificate ends, in milliseconds since 1970; `null` without one. */
  certificateEndsAt: number | null
}

/** The parts of a service that its functions use. */
export interface ServiceParts {
  readonly log: (entry: ServiceLogEntry) => void
  readonly openTracing: (config: RunningConfig) => Promise<Tracing | undefined>
  readonly prometheus: Prometheus | undefined
  readonly storage: Storage
  readonly keys: Pick<StoredKeys, 'renewLimits'>
  readonly gateway: Gateway
  readonly siteHost: SiteHost
  readonly drainDelay: ReturnType<typeof createDrainDelay>
  /** Closes everything that does not listen. */
  readonly closeParts: () => Promise<void>
}

const defaultGraceMs = 10_000

/** Converts the config of a service to that of its gateway. */
export const toGateway = (
  { config, limitsByNetwork, tracing }: Pick<ServiceState, 'config' | 'limitsByNetwork' | 'tracing'>,
  tls: GatewayConfig['tls'],
  prometheus: Prometheus | undefined,
): GatewayConfig => ({
  ...toGatewayConfig(config, limitsByNetwork, { tls, tracer: tracing?.tracer }),
  // Prometheus counts requests from log entries.
  logRequests: config.logRequests || prometheus !== undefined,
})

/** Logs if the secrets decrypt only some of the stored keys. */
export const warnAboutSecret = (check: SecretCheck, log: ServiceParts['log']): void => {
  const problem = describeSecretProblem(check)
  if (problem !== undefined)
    log({ event: 'warning', what: `${problem}: the others work, but cannot be shown again. Is it the right secret?` })
}

/** Opens tracing, if it is configured. */
export const openConfiguredTracing = async (
  { tracing }: RunningConfig,
  version: string,
  log: ServiceParts['log'],
): Promise<Tracing | undefined> =>
  tracing && openTracing({ config: tracing, version, warn: (what) => log({ event: 'warning', what }) })

/**
 * Opens the chain store, if it is configured. Without it, calls go to nodes: only a path that cannot be created, and a Redis that may not be used, are
 * errors.
 */
export const openConfiguredChainStore = async (
  { cache }: RunningConfig,
  log: ServiceParts['log'],
  { redisUrl, limits }: { readonly redisUrl?: string | undefined; readonly limits?: RedisLink | undefined } = {},
): Promise<ChainStore | undefined> => {
  const warn = (what: string): void => log({ event: 'warning', what })
  if (redisUrl !== undefined) return openCacheRedis({ redisUrl, limits, confirm: cache?.confirm, warn })
  const { file } = cache ?? {}
  if (cache === undefined || file === undefined) return undefined
  try {
    return await openChainStore({ ...cache, file, warn })
  } catch (error) {
    if (!isStorageError(error, 'failed')) throw error
    warn(`The chain store is off until the service is restarted: ${error.message}.`)
    return undefined
  }
}

/** @see {@link Service.listen} */
export const listen = async (
  state: ServiceState,
  { gateway, siteHost, prometheus, log }: ServiceParts,
  at: NonNullable<Parameters<Service['listen']>[0]> = state.config.listen,
): Promise<Listening> => {
  const { url, port } = await gateway.listen(at)
  const siteUrl = await siteHost.listen(url)
  let prometheusPort: number | undefined
  if (prometheus !== undefined && state.config.prometheus !== undefined) {
    prometheusPort = await prometheus.listen(state.config.prometheus)
    log({ event: 'prometheusListening', port: prometheusPort })
  }
  state.listening = { url, port, siteUrl, ...(prometheusPort === undefined ? {} : { prometheusPort }) }
  return state.listening
}

/** Checks changed secrets. While the database is unavailable, a reload does not wait for it. */
const recheckSecret = async (
  { secrets, secretCheck }: ServiceState,
  storage: Storage,
  changed: readonly ServerSecret[],
): Promise<SecretCheck> => {
  const isSame = changed.length === secrets.length && changed.every(({ key }, index) => secrets[index]?.key.equals(key))
  return isSame ? secretCheck : checkSecret(storage, changed).catch(() => secretCheck)
}

/** @see {@link Service.reload} */
export const reload = async (
  state: ServiceState,
  parts: ServiceParts,
  changed: RunningConfig,
  changedSecrets: readonly ServerSecret[] | undefined,
): Promise<readonly string[]> => {
  const { next, needsRestart } = planReload(state.config, changed)
  // First the steps that can fail.
  const tls = readTls(next)
  const applySite = parts.siteHost.prepare(next, tls)
  const limitsByNetwork = resolveNetworkLimits(next)
  const secretCheck =
    changedSecrets === undefined ? state.secretCheck : await recheckSecret(state, parts.storage, changedSecrets)
  if (isWrongSecret(secretCheck) && !isWrongSecret(state.secretCheck)) throw wrongSecretError(secretCheck)
  const isTracedAsBefore = JSON.stringify(next.tracing) === JSON.stringify(state.config.tracing)
  const tracing = isTracedAsBefore ? state.tracing : await parts.openTracing(next)
  try {
    await parts.gateway.reload(toGateway({ config: next, limitsByNetwork, tracing }, tls, parts.prometheus))
  } catch (error) {
    if (!isTracedAsBefore) await tracing?.close()
    throw error
  }
  if (!isTracedAsBefore) void state.tracing?.close()
  state.tracing = tracing
  state.config = next
  state.limitsByNetwork = limitsByNetwork
  state.certificateEndsAt = getCertificateEnd(tls)
  applySite()
  if (changedSecrets !== undefined) state.secrets.splice(0, state.secrets.length, ...changedSecrets)
  if (secretCheck !== state.secretCheck) {
    state.secretCheck = secretCheck
    warnAboutSecret(secretCheck, parts.log)
  }
  parts.keys.renewLimits()
  return needsRestart
}

/** @see {@link Service.close} */
export const close = async (
  state: ServiceState,
  { gateway, siteHost, prometheus, log, drainDelay, closeParts }: ServiceParts,
  { graceMs = defaultGraceMs, drainDelayMs = state.config.drainDelayMs ?? 0 }: CloseOptions,
): Promise<void> => {
  if (drainDelayMs > 0 && state.listening !== undefined) {
    state.isClosing = true
    gateway.prepareToClose({ windowMs: drainDelayMs })
    log({ event: 'drainDelay', delayMs: drainDelayMs })
    await drainDelay.wait(drainDelayMs)
  }
  await Promise.all([gateway.close({ graceMs }), siteHost.close(graceMs)])
  await prometheus?.close()
  await state.tracing?.close()
  await closeParts()
}
