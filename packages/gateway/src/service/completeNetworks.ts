import type { z } from 'zod'
import type { Network, NetworkDetails } from '../lib/network.ts'
import { findNearestName } from '@keyrail/core/internal'
import { findKnownNetwork, getKnownPresets, listKnownNetworks } from '../lib/findKnownNetwork.ts'
import type { ConfigFault } from './configError.ts'
import { ConfigError } from './configError.ts'
import type { ServiceNetwork, serviceConfigSchema } from './serviceConfig.ts'

type NetworkInput = z.infer<typeof serviceConfigSchema>['networks'][string]

const isTestnetName = (name: Network): boolean => name === 'testnet' || name.endsWith('-testnet')

/** Fills in what is known about the networks of a config, by their names, or else by their chain ids. @throws {ConfigError} */
export const completeNetworks = (
  given: Readonly<Record<Network, NetworkInput>>,
): Readonly<Record<Network, ServiceNetwork>> => {
  const faults: ConfigFault[] = []
  const names = new Map<string, Network>(Object.keys(given).map((name) => [name, name]))
  for (const [name, { aliases = [] }] of Object.entries(given))
    for (const alias of aliases) {
      const other = names.get(alias)
      if (other !== undefined)
        faults.push({
          path: `networks.${name}.aliases`,
          fix: other === name ? 'has a name twice: remove one' : `has a name of the network ${other}: remove it`,
        })
      names.set(alias, name)
    }
  const completed: Record<Network, ServiceNetwork> = {}
  for (const [name, network] of Object.entries(given)) {
    const known = findKnownNetwork(name, network.chainId)
    const chainId = network.chainId ?? known?.chainId
    if (chainId === undefined) {
      const meant = findNearestName(
        name,
        listKnownNetworks().flatMap((one) => [one.name, ...one.aliases]),
      )
      faults.push({
        path: `networks.${name}.chainId`,
        fix: `is missing: no well-known network has this name${meant === undefined ? '' : `. Did you mean ${meant}?`}`,
      })
      continue
    }
    const details: NetworkDetails = {
      chain: known?.chain ?? name,
      title: known?.title ?? name,
      symbol: known?.symbol ?? 'ETH',
      testnet: known?.testnet ?? isTestnetName(name),
      ...(known?.explorerUrl === undefined ? {} : { explorerUrl: known.explorerUrl }),
      aliases: takeFree(names, name, known === undefined ? [] : [known.name, ...known.aliases]),
      chainId,
    }
    const methodPresets = getKnownPresets(known?.chain)
    completed[name] = { ...details, methodPresets, ...network }
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return completed
}

/** The names that no other network has. */
const takeFree = (names: Map<string, Network>, network: Network, wanted: readonly string[]): readonly string[] => {
  const free = wanted.filter((name) => !names.has(name))
  for (const name of free) names.set(name, network)
  return free
}
