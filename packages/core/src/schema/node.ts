import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/** One stage of a node's synchronisation: reth says `name` and `block`, Erigon `stage_name` and `block_number`. */
export interface SyncStage {
  name?: string
  block?: Quantity
  stage_name?: string
  block_number?: Quantity
}

/** How far a node has got. Source: execution-apis, `SyncingStatus`; geth, eth_syncing for the rest. */
export interface SyncStatus {
  startingBlock?: Quantity
  currentBlock?: Quantity
  highestBlock?: Quantity
  syncedAccounts?: Quantity
  syncedAccountBytes?: Quantity
  syncedBytecodes?: Quantity
  syncedBytecodeBytes?: Quantity
  syncedStorage?: Quantity
  syncedStorageBytes?: Quantity
  healedTrienodes?: Quantity
  healedTrienodeBytes?: Quantity
  healedBytecodes?: Quantity
  healedBytecodeBytes?: Quantity
  healingTrienodes?: Quantity
  healingBytecode?: Quantity
  txIndexFinishedBlocks?: Quantity
  txIndexRemainingBlocks?: Quantity
  stateIndexRemaining?: Quantity
  pulledStates?: Quantity
  knownStates?: Quantity
  /** reth and Erigon. */
  stages?: SyncStage[]
}

/** The node and its status. */
export interface NodeMethods {
  /** The id of the chain. Source: execution-apis, eth/client; EIP-695. */
  eth_chainId(): Promise<Quantity>
  /** How far synchronisation has got; `false` once it is done. Source: execution-apis, eth/client. */
  eth_syncing(): Promise<SyncStatus | false>
  /** The accounts that the node holds the keys of. Source: execution-apis, eth/client. */
  eth_accounts(): Promise<Address[]>
  /** The address that the node's block rewards go to. Source: execution-apis, eth/client. */
  eth_coinbase(): Promise<Address>
  /** The version of the protocol between nodes. Source: ethereum.org JSON-RPC; served by reth, Erigon and Nethermind; anvil sends a number. */
  eth_protocolVersion(): Promise<Quantity>
  /** Whether the node mines. Source: ethereum.org JSON-RPC; served by Erigon and Nethermind. */
  eth_mining(): Promise<boolean>
  /** How many hashes a second the node mines with. Source: ethereum.org JSON-RPC; served by Erigon and anvil. */
  eth_hashrate(): Promise<Quantity>
  /** The work to mine on: the header's hash, the seed, the target and the block number. Source: ethereum.org JSON-RPC; served by Erigon. */
  eth_getWork(): Promise<[headerHash: Hash, seedHash: Hash, target: Hash, blockNumber: Quantity]>
  /** Hands in a proof of work. Source: ethereum.org JSON-RPC; served by Erigon. */
  eth_submitWork(nonce: Bytes, headerHash: Hash, mixDigest: Hash): Promise<boolean>
  /** Reports a miner's hash rate. Source: ethereum.org JSON-RPC; served by Erigon. */
  eth_submitHashrate(hashrate: Quantity, minerId: Hash): Promise<boolean>
}
