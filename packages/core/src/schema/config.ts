import type { Address, Bytes, Quantity } from './hex.ts'

/** How many blobs a block takes, and how their price moves. Source: EIP-7840. */
export interface BlobSchedule {
  baseFeeUpdateFraction: number
  max: number
  target: number
}

/** Addresses by the name of what lies there. */
export interface NamedAddresses {
  [name: string]: Address
}

/** The rules of one fork. Source: execution-apis, `ConfigObject`; EIP-7910. */
export interface ForkConfig {
  /** Seconds since 1970. */
  activationTime: number
  blobSchedule: BlobSchedule
  chainId: Quantity
  forkId: Bytes
  precompiles: NamedAddresses
  systemContracts: NamedAddresses
}

/** The forks that a node knows. Source: execution-apis, `ConfigurationResponse`; EIP-7910. */
export interface NodeConfig {
  current: ForkConfig
  /** `null` if no fork is planned. */
  next: ForkConfig | null
  /** `null` if no fork is planned. */
  last: ForkConfig | null
}

/** How a node is set up. */
export interface ConfigMethods {
  /** The rules of the current, the next and the last known fork. Source: execution-apis, eth/client; EIP-7910. */
  eth_config(): Promise<NodeConfig>
}
