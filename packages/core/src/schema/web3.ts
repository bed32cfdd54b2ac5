import type { Bytes, Hash } from './hex.ts'

/** The node's program. */
export interface Web3Methods {
  /** Name and version of the node's program. Source: ethereum.org JSON-RPC, web3. */
  web3_clientVersion(): Promise<string>
  /** Keccak-256 of some bytes. Source: ethereum.org JSON-RPC, web3. */
  web3_sha3(data: Bytes): Promise<Hash>
}
