import type { ServiceConfig } from './serviceConfig.ts'

/** A service config whose `publicUrl` is optional. @default `publicUrl`: the URL where the service listens */
export type RunningConfig = Omit<ServiceConfig, 'publicUrl'> & Partial<Pick<ServiceConfig, 'publicUrl'>>

/** The members that only apply after a restart, by name. */
const getFixedMembers = (config: RunningConfig): Readonly<Record<string, unknown>> => ({
  listen: config.listen,
  'control.listen': config.control?.listen,
  tls: config.tls === undefined,
  prometheus: config.prometheus,
  storage: config.storage,
  cache: config.cache,
  outageGrant: config.outageGrant,
  retention: config.retention,
  staleKeysForMs: config.staleKeysForMs,
  maxCachedKeys: config.maxCachedKeys,
  postgres: config.postgres,
})

/**
 * Decides what a running service takes over from a new config.
 * @param current - The config of the running service.
 * @param changed - The new config.
 * @returns The config to apply, and the names of the changed members that only apply after a restart. Those keep their current value.
 */
export const planReload = (
  current: RunningConfig,
  changed: RunningConfig,
): { readonly next: RunningConfig; readonly needsRestart: readonly string[] } => {
  const before = getFixedMembers(current)
  const needsRestart = Object.entries(getFixedMembers(changed))
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]))
    .map(([name]) => name)
  const { control: _control, tls, prometheus: _prometheus, storage: _storage, cache: _cache, ...rest } = changed
  const next: RunningConfig = {
    ...rest,
    listen: current.listen,
    outageGrant: current.outageGrant,
    retention: current.retention,
    staleKeysForMs: current.staleKeysForMs,
    maxCachedKeys: current.maxCachedKeys,
    postgres: current.postgres,
    ...(current.control === undefined
      ? {}
      : { control: { ...current.control, publicUrl: changed.control?.publicUrl ?? current.control.publicUrl } }),
    ...(current.prometheus === undefined ? {} : { prometheus: current.prometheus }),
    ...(current.cache === undefined ? {} : { cache: current.cache }),
    ...(current.storage === undefined ? {} : { storage: current.storage }),
    ...(current.tls === undefined ? {} : { tls: tls ?? current.tls }),
  }
  return { next, needsRestart }
}
