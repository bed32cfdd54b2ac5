import type { Hash, Quantity } from './hex.ts'

/** Data of one kind is kept for so many blocks only. Source: execution-apis, `EthCapabilitiesDeleteStrategy`. */
export interface DeleteStrategy {
  type: 'window'
  retentionBlocks: Quantity
}

/** What a node has of one kind of data. Source: execution-apis, `EthCapabilitiesEffectiveResource`. */
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

/** What a node can answer for. Source: execution-apis, `EthCapabilities`. */
export interface Capabilities {
  head: CapabilitiesHead
  state: CapabilityResource
  tx: CapabilityResource
  logs: CapabilityResource
  receipts: CapabilityResource
  blocks: CapabilityResource
  stateproofs: CapabilityResource
}

/** What a node can do. */
export interface CapabilitiesMethods {
  /** Which data the node has, and from which block on. Source: execution-apis, eth/client. */
  eth_capabilities(): Promise<Capabilities>
}
