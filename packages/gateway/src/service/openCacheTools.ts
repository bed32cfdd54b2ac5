import { existsSync } from 'node:fs'
import { StorageError } from '../errors/storageError.ts'
import type { ChainStore } from '../storage/chainStore/chainStore.ts'
import { getLastFile, openChainStore } from '../storage/chainStore/openChainStore.ts'
import { openRedisStore, waitForRedis } from '../storage/chainStore/openRedisStore.ts'
import type { ChainFileStats } from '../storage/chainStore/createChainUpkeep.ts'
import { ConfigError } from './configError.ts'
import { readServiceConfig } from './readServiceConfig.ts'
import type { ServiceConfig } from './serviceConfig.ts'
import { checkCredentials } from './serviceEnvironment.ts'
import type { Environment } from './serviceEnvironment.ts'
import { warmCache } from './warmCache.ts'
import type { WarmedLogs, WarmOptions } from './warmCache.ts'

/** Operator commands on the chain store of a service, which may be running. */
export interface CacheTools {
  /** The path of the file; `undefined` for a Redis. */
  readonly file: string | undefined
  getStats(): Promise<ChainFileStats>
  /**
   * Deletes what is stored. A running service stores it again.
   * @param which.network - Only of this network. @default all
   * @param which.upstream - Only what a node with this name sent. @default all
   * @throws {ConfigError} if the config has no such network.
   */
  purge(which?: { readonly network?: string | undefined; readonly upstream?: string | undefined }): Promise<void>
  /**
   * Reads logs through the nodes of the config, so that they are stored. Logs that are stored already are not read again.
   * @param which.network - @default the network of the config, if it has one
   * @throws {ConfigError} if the config has no such network, several and none is named, or does not store its results.
   */
  warm(which: Omit<WarmOptions, 'network'> & { readonly network?: string | undefined }): Promise<WarmedLogs>
  close(): Promise<void>
}

/** How long a command waits for Redis, in milliseconds. */
const redisPatienceMs = 10_000

/** Opens the store of a config, which is not created here: a file would belong to the operator, and the service could not open it. */
const openStore = async (
  { cache }: Pick<ServiceConfig, 'cache'>,
  redisUrl: string | undefined,
): Promise<{ readonly file: string | undefined; readonly store: ChainStore }> => {
  const warn = (): void => {}
  if (redisUrl !== undefined) {
    checkCredentials({ cacheRedisUrl: redisUrl })
    const store = openRedisStore({ redisUrl, confirm: cache?.confirm, warn })
    if (await waitForRedis(store, redisPatienceMs)) return { file: undefined, store }
    await store.close()
    throw new StorageError(
      'the Redis of CACHE_REDIS_URL does not respond, or may not be used: see the log of the service',
      {
        fault: 'unavailable',
      },
    )
  }
  const { file } = cache ?? {}
  if (cache === undefined || file === undefined)
    throw new ConfigError([{ path: 'cache', fix: 'is missing: without it, the service has no chain store' }])
  if (!existsSync(getLastFile(file)))
    throw new ConfigError([
      { path: 'cache.file', fix: 'names a file that does not exist: start the service first, or check the path' },
    ])
  return { file, store: await openChainStore({ ...cache, file, mayReplace: false, warn }) }
}

/**
 * Opens the chain store of a service for its operator.
 * @param file - The path of the config file.
 * @throws {ConfigError} if the file cannot be used or has no chain store. {StorageError} if the store cannot be opened.
 * @example
 * const cache = await openCacheTools('keyrail.config.json')
 * await cache.purge({ upstream: 'provider' })
 * await cache.close()
 */
export const openCacheTools = async (
  file: string,
  { environment = process.env }: { environment?: Environment } = {},
): Promise<CacheTools> => {
  const config = readServiceConfig(file, { environment })
  const { networks } = config
  const { file: storeFile, store } = await openStore(config, environment['CACHE_REDIS_URL'] || undefined)
  const unknownNetwork = (network: string | undefined): ConfigError => {
    const names = Object.keys(networks).join(', ')
    const fix = network === undefined ? `has several, so name one of ${names}` : `has no "${network}": it has ${names}`
    return new ConfigError([{ path: 'networks', fix }])
  }
  return {
    file: storeFile,
    getStats: store.getStats,
    purge: async ({ network, upstream } = {}) => {
      const chainId = network === undefined ? undefined : networks[network]?.chainId
      if (network !== undefined && chainId === undefined) throw unknownNetwork(network)
      await store.purge(network === undefined ? undefined : `${network} ${chainId}`, upstream)
    },
    warm: async ({ network, ...which }) => {
      const [first, ...others] = Object.keys(networks)
      const name = network ?? (others.length === 0 ? first : undefined)
      if (name === undefined || networks[name] === undefined) throw unknownNetwork(name)
      if (!networks[name].cache)
        throw new ConfigError([{ path: `networks.${name}.cache`, fix: 'is false: its results are not stored' }])
      return warmCache(config, store, { ...which, network: name })
    },
    close: store.close,
  }
}
