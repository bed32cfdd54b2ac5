import type { Hash, Quantity } from './hex.ts'

/** The node deletes data of one kind after this many blocks. Source: execution-apis, `EthCapabilitiesDeleteStrategy`. */
export interface DeleteStrategy {
  type: 'window'
  retentionBlocks: Quantity
}

/** The range of one kind of data that a node has. Source: execution-apis, `EthCapabilitiesEffectiveResource`. */
export interface CapabilityResource {
  disabled: boolean
  oldestBlock?: Quantity
  deleteStrategy?: DeleteStrategy
}

/** The block that a node takes for the head. Source: execution-apis, `EthCapabilitiesHead`. */
export interface CapabilitiesHead {
  number: Quantity
  hash: Hash
}

/** The data that a node has, by kind. Source: execution-apis, `EthCapabilities`. */
export interface Capabilities {
  head: CapabilitiesHead
  state: CapabilityResource
  tx: CapabilityResource
  logs: CapabilityResource
  receipts: CapabilityResource
  blocks: CapabilityResource
  stateproofs: CapabilityResource
}

/** Capabilities of a node. */
export interface CapabilitiesMethods {
  /** Which data the node has, and from which block on. Source: execution-apis, eth/client. */
  eth_capabilities(): Promise<Capabilities>
}
