import type { Quantity } from './hex.ts'

/** The network between nodes. */
export interface NetMethods {
  /** The id of the network, as a decimal number. Source: execution-apis, net. */
  net_version(): Promise<string>
  /** Whether the node takes connections. Source: ethereum.org JSON-RPC, net. */
  net_listening(): Promise<boolean>
  /** How many peers the node has. Source: ethereum.org JSON-RPC, net. */
  net_peerCount(): Promise<Quantity>
}
