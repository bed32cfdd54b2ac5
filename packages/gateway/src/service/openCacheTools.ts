import { existsSync } from 'node:fs'
import { getLastFile, openChainStore } from '../storage/chainStore/openChainStore.ts'
import type { ChainFileStats } from '../storage/chainStore/createChainUpkeep.ts'
import { ConfigError } from './configError.ts'
import { readServiceConfig } from './readServiceConfig.ts'
import type { Environment } from './serviceEnvironment.ts'
import { warmCache } from './warmCache.ts'
import type { WarmedLogs, WarmOptions } from './warmCache.ts'

/** Operator commands on the chain store of a service, which may be running. */
export interface CacheTools {
  readonly file: string
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
  const { cache, networks } = config
  if (cache === undefined)
    throw new ConfigError([{ path: 'cache', fix: 'is missing: without it, the service has no chain store' }])
  // Not created here: it would belong to the operator, and the service could not open it.
  if (!existsSync(getLastFile(cache.file)))
    throw new ConfigError([
      { path: 'cache.file', fix: 'names a file that does not exist: start the service first, or check the path' },
    ])
  const store = await openChainStore({ ...cache, mayReplace: false, warn: () => {} })
  const unknownNetwork = (network: string | undefined): ConfigError => {
    const names = Object.keys(networks).join(', ')
    const fix = network === undefined ? `has several, so name one of ${names}` : `has no "${network}": it has ${names}`
    return new ConfigError([{ path: 'networks', fix }])
  }
  return {
    file: cache.file,
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
