import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { deploymentQuery } from '../control/queries.ts'
import type { NetworkView } from './searchNetworks.ts'

/** The networks of the service by name. */
export interface Networks {
  /** Finds a network; `undefined` if the service does not have it any more. */
  readonly find: (network: string) => NetworkView | undefined
  /** Gets the title of a network, or its name if the service does not have it. */
  readonly getTitle: (network: string) => string
}

/** The networks of the service, once they are loaded. */
export function useNetworks(): Networks {
  const { data } = useQuery(deploymentQuery)
  return useMemo(() => {
    const byName = new Map(data?.networks.map((one) => [one.network, one]))
    return { find: (network) => byName.get(network), getTitle: (network) => byName.get(network)?.title ?? network }
  }, [data])
}
