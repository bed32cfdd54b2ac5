import type { Network } from '../../lib/network.ts'
import { getUtcDay, toUtcDay } from '../../lib/utcDay.ts'
import { trafficPrefix } from '../limits/accountDays.ts'
import type { AccountDays } from '../limits/accountDays.ts'
import { createLedger } from '../limits/ledger.ts'
import type { AlongsideSource } from '../metering/joinAlongside.ts'

/** A count since the process started. Increase it in place: a call must not cost more. */
export interface TrafficCount {
  total: number
}

/** What a node was sent, each attempt and each query of the service itself included. */
export interface SentCounts {
  readonly calls: TrafficCount
  readonly units: TrafficCount
}

/** The calls of a network that no node was sent. `cache`: the result was in memory. `inFlight`: an identical call was in flight. */
export interface SavedCounts {
  readonly cache: TrafficCount
  readonly inFlight: TrafficCount
}

/** A day of a network. */
export interface TrafficDay {
  /** `2026-11-21`. */
  readonly day: string
  readonly network: Network
  readonly upstreams: readonly { readonly name: string; readonly calls: number; readonly units: number }[]
  readonly savedByCache: number
  readonly savedInFlight: number
}

/** What nodes were sent, and what was saved. */
export interface NodeTraffic {
  /** Gets the counts of a node, the same after a reload. */
  ofNode(network: Network, name: string): SentCounts
  ofNetwork(network: Network): SavedCounts
}

/** What nodes were sent, and what was saved, at all instances and by day. */
export interface StoredNodeTraffic extends NodeTraffic, AlongsideSource {
  /**
   * Reads the last days of the given nodes, the newest day first. Days without calls are left out.
   * @throws {StorageError}
   */
  readDays(nodes: readonly TrafficNode[], days: number): Promise<readonly TrafficDay[]>
}

/** A node, by its name in the config. */
export interface TrafficNode {
  readonly network: Network
  readonly name: string
}

/** Creates counts that are not stored. */
export const createTrafficCounts = (): NodeTraffic & { readonly all: ReadonlyMap<string, TrafficCount> } => {
  const all = new Map<string, TrafficCount>()
  const get = (account: string): TrafficCount => {
    let count = all.get(account)
    if (count === undefined) all.set(account, (count = { total: 0 }))
    return count
  }
  return {
    all,
    ofNode: (network, name) => {
      const [calls, units] = toNodeAccounts(network, name)
      return { calls: get(calls), units: get(units) }
    },
    ofNetwork: (network) => {
      const [cache, inFlight] = toNetworkAccounts(network)
      return { cache: get(cache), inFlight: get(inFlight) }
    },
  }
}

const toNodeAccounts = (network: Network, name: string): readonly [calls: string, units: string] => [
  `${trafficPrefix}calls:${network}/${name}`,
  `${trafficPrefix}units:${network}/${name}`,
]
const toNetworkAccounts = (network: Network): readonly [cache: string, inFlight: string] => [
  `${trafficPrefix}cache:${network}`,
  `${trafficPrefix}inFlight:${network}`,
]

/**
 * Creates the counts of the service, which are written to the ledger of the quotas, with metering.
 * @param options.now - In milliseconds since 1970. A call counts for the day in which it is written, half a second later at most.
 */
export const createNodeTraffic = ({
  rows,
  now,
}: {
  rows: Pick<AccountDays, 'toSteps' | 'readDays'>
  now: () => number
}): StoredNodeTraffic => {
  const { all, ofNode, ofNetwork } = createTrafficCounts()
  const ledger = createLedger(rows)
  const written = new Map<string, number>()
  return {
    ofNode,
    ofNetwork,
    take: () => {
      const { day } = getUtcDay(now())
      for (const [account, { total }] of all) {
        const units = total - (written.get(account) ?? 0)
        if (units > 0) ledger.add(account, day, units)
        written.set(account, total)
      }
      return ledger.take()
    },
    readDays: async (nodes, days) => {
      const today = getUtcDay(now()).day
      const networks = [...new Set(nodes.map(({ network }) => network))]
      const accounts = [
        ...nodes.flatMap(({ network, name }) => toNodeAccounts(network, name)),
        ...networks.flatMap(toNetworkAccounts),
      ]
      const charged = new Map<string, number>()
      const used = new Set<number>()
      for (const row of await rows.readDays(accounts, today - days + 1, today)) {
        charged.set(`${row.day} ${row.account}`, row.charged)
        used.add(row.day)
      }
      return [...used]
        .toSorted((one, other) => other - one)
        .flatMap((day) =>
          networks.map((network) => {
            const get = (account: string): number => charged.get(`${day} ${account}`) ?? 0
            const [savedByCache, savedInFlight] = toNetworkAccounts(network).map(get) as [number, number]
            const upstreams = nodes
              .filter((node) => node.network === network)
              .map(({ name }) => {
                const [calls, units] = toNodeAccounts(network, name).map(get) as [number, number]
                return { name, calls, units }
              })
            return { day: toUtcDay(day).text, network, upstreams, savedByCache, savedInFlight }
          }),
        )
    },
  }
}
