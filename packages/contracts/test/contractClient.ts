import type { Service } from './startService.ts'

/** Bytes as hex. */
export type Hex = `0x${string}`

/** A contract that is not on a chain yet. */
export interface Source {
  readonly abi: readonly unknown[]
  readonly bytecode: Hex
}

/** A contract on the chain. */
export interface Deployed {
  readonly abi: readonly unknown[]
  readonly address: Hex
}

/** A decoded event. Numbers are bigints, addresses are in lower case. */
export interface SeenEvent {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly blockNumber: bigint
  readonly logIndex: number
}

/** The result of a mined transaction. */
export interface MinedTransaction {
  readonly status: 'success' | 'reverted'
  readonly blockNumber: bigint
  readonly gasUsed: bigint
  /** The events in the receipt, decoded. */
  readonly events: readonly SeenEvent[]
}

/** A transaction that a node has accepted. */
export interface Sent {
  readonly hash: Hex
  /** Waits until the transaction is mined. */
  readonly mined: () => Promise<MinedTransaction>
}

/** The decoded failure of a call that failed in the contract. */
export type DecodedFailure =
  | { readonly as: 'custom'; readonly name: string; readonly args: readonly unknown[] }
  | { readonly as: 'panic'; readonly code: bigint }
  | { readonly as: 'reason'; readonly reason: string }
  /** A revert without data. */
  | { readonly as: 'bare' }

/** Options of a write. */
export interface WriteOptions {
  readonly valueWei?: bigint
  /** The gas limit. It replaces the estimate, so that a transaction that fails can be sent. */
  readonly gas?: bigint
}

/** The events to read. */
export interface EventRange {
  readonly fromBlock: bigint
  readonly toBlock: bigint
  /** Values of indexed parameters. */
  readonly where?: Readonly<Record<string, unknown>>
}

/**
 * The contract functions of a library. The client signs transactions with the key that it was created with. Values are returned as bigint,
 * string, boolean, lower-case hex, and arrays of these.
 */
export interface ContractClient {
  /** The address of its key, in lower case. */
  readonly address: Hex
  readonly deploy: (source: Source, args: readonly unknown[]) => Promise<Deployed>
  readonly read: (contract: Deployed, name: string, args?: readonly unknown[]) => Promise<unknown>
  readonly write: (contract: Deployed, name: string, args?: readonly unknown[], options?: WriteOptions) => Promise<Sent>
  /** Sends writes one after the other, without waiting for blocks in between. */
  readonly writeAll: (contract: Deployed, name: string, eachArgs: readonly (readonly unknown[])[]) => Promise<Sent[]>
  readonly sendValue: (to: Hex, valueWei: bigint) => Promise<Sent>
  readonly balance: (address: Hex) => Promise<bigint>
  readonly blockNumber: () => Promise<bigint>
  readonly events: (contract: Deployed, name: string, range: EventRange) => Promise<readonly SeenEvent[]>
  /** Calls `onEvent` for each new event, until the returned function is called. */
  readonly watch: (contract: Deployed, name: string, onEvent: (event: SeenEvent) => void) => Promise<() => void>
  readonly estimate: (
    contract: Deployed,
    name: string,
    args?: readonly unknown[],
    options?: WriteOptions,
  ) => Promise<bigint>
  /** Reads, and follows an `OffchainLookup`. */
  readonly lookUp: (contract: Deployed, name: string, args: readonly unknown[]) => Promise<unknown>
  /** Decodes a failure. Returns undefined if the library does not report it as a failure of the contract. */
  readonly decodeFailure: (error: unknown, contract: Deployed) => DecodedFailure | undefined
  readonly close: () => void
}

/** The part of an adapter that the tests use. */
export interface ContractSubject {
  /** Creates a client for a URL of the service. */
  readonly open: (address: Service['app'] | Service['key'], privateKey: Hex) => ContractClient | Promise<ContractClient>
  /** Features that the library does not have, with or without Keyrail. The tests check how it fails. */
  readonly cannot?: {
    /** Following an `OffchainLookup`: it is reported as the contract's own error. */
    readonly lookUp?: true
    /** Watching events over HTTP: the message of the error. */
    readonly watch?: RegExp
  }
}
