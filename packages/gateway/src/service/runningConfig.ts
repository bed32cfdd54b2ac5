import type { ServiceConfig } from './serviceConfig.ts'

/** A config whose `publicUrl` is not known before the service listens. */
export type RunningConfig = Omit<ServiceConfig, 'publicUrl'> & { readonly publicUrl?: string }

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

/**
 * What a running service makes of another config.
 * @param config - What it runs by.
 * @returns What it is to run by, and the names of what acts only after a restart: that stays as it was.
 */
export const nextConfig = (
  config: RunningConfig,
  given: RunningConfig,
): { readonly next: RunningConfig; readonly needsRestart: readonly string[] } => {
  const before = fixed(config)
  const needsRestart = Object.entries(fixed(given))
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]))
    .map(([name]) => name)
  const { control: _control, tls, prometheus: _prometheus, storage: _storage, ...rest } = given
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
    ...(config.storage === undefined ? {} : { storage: config.storage }),
    ...(config.tls === undefined ? {} : { tls: tls ?? config.tls }),
  }
  return { next, needsRestart }
}
