import type { LogEntry } from '../log.ts'
import type { Network } from '../network.ts'
import { createUpstream } from './createUpstream.ts'
import type { Upstream } from './createUpstream.ts'
import { watchHealth } from './watchHealth.ts'
import type { Health } from './watchHealth.ts'

/** An upstream and what is known of its health. */
export interface GroupMember {
  readonly upstream: Upstream
  readonly health: Health
}

/** The upstreams of one network. */
export interface UpstreamGroup {
  readonly network: Network
  readonly chainId: number
  /**
   * The first healthy upstream in the order of the configuration, but for `not`. The order is kept, rather than load spread, so
   * that a caller's next read meets the node that took its last write or made its filter.
   */
  readonly pick: (not?: GroupMember) => GroupMember | undefined
  /** Probes all once, then goes on probing. */
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * Makes the group of one network's upstreams.
 * @param options.upstreams - In the order of preference; `name` is what logs call one.
 */
export const createUpstreamGroup = (options: {
  network: Network
  chainId: number
  upstreams: readonly { name: string; address: URL }[]
  timeoutMs: number
  log: (entry: LogEntry) => void
}): UpstreamGroup => {
  const { network, chainId, timeoutMs, log } = options
  const members = options.upstreams.map(({ name, address }): GroupMember => {
    const upstream = createUpstream(address)
    const onState = (state: 'healthy' | 'unreachable' | 'wrongChain'): void =>
      log({ event: 'upstream', network, upstream: name, state })
    return { upstream, health: watchHealth(upstream, { chainId, timeoutMs, onState }) }
  })
  return {
    network,
    chainId,
    pick: (not) => members.find((member) => member !== not && member.health.healthy()),
    start: async () => {
      await Promise.all(members.map(({ health }) => health.start()))
    },
    close: async () => {
      for (const { health } of members) health.stop()
      await Promise.all(members.map(({ upstream }) => upstream.close()))
    },
  }
}
