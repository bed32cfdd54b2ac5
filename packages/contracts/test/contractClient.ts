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

/** A decoded event. Numbers are bigints, addresses are written in small letters. */
export interface SeenEvent {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly blockNumber: bigint
  readonly logIndex: number
}

/** How a transaction ended. */
export interface Settled {
  readonly status: 'success' | 'reverted'
  readonly blockNumber: bigint
  readonly gasUsed: bigint
  /** Its events, decoded from its receipt. */
  readonly events: readonly SeenEvent[]
}

/** A transaction that a node has taken. */
export interface Sent {
  readonly hash: Hex
  /** Waits until it is in a block. */
  readonly settled: () => Promise<Settled>
}

/** What a library says of a call that failed in the contract. */
export type DecodedFailure =
  | { readonly as: 'custom'; readonly name: string; readonly args: readonly unknown[] }
  | { readonly as: 'panic'; readonly code: bigint }
  | { readonly as: 'reason'; readonly reason: string }
  /** A revert without a byte. */
  | { readonly as: 'bare' }

/** What may be said of a write beside its arguments. */
export interface WriteOptions {
  readonly valueWei?: bigint
  /** Spares the estimate, so that a transaction can be sent that will fail. */
  readonly gas?: bigint
}

/** Which events are meant. */
export interface EventRange {
  readonly fromBlock: bigint
  readonly toBlock: bigint
  /** Values of indexed parameters. */
  readonly where?: Readonly<Record<string, unknown>>
}

/**
 * What a dApp does with contracts, by whatever library. Everything that it sends is signed here, by the key that it was made with. Values
 * come back as bigint, text, boolean, small-letter hex, and lists of these.
 */
export interface ContractClient {
  /** Of its key; in small letters. */
  readonly address: Hex
  readonly deploy: (source: Source, args: readonly unknown[]) => Promise<Deployed>
  readonly read: (contract: Deployed, name: string, args?: readonly unknown[]) => Promise<unknown>
  readonly write: (contract: Deployed, name: string, args?: readonly unknown[], options?: WriteOptions) => Promise<Sent>
  /** Sends writes one after the other, without waiting for a block between them. */
  readonly writeAll: (contract: Deployed, name: string, eachArgs: readonly (readonly unknown[])[]) => Promise<Sent[]>
  readonly sendValue: (to: Hex, valueWei: bigint) => Promise<Sent>
  readonly balance: (address: Hex) => Promise<bigint>
  readonly blockNumber: () => Promise<bigint>
  readonly events: (contract: Deployed, name: string, range: EventRange) => Promise<readonly SeenEvent[]>
  /** Tells of events as they come, until it is stopped. */
  readonly watch: (contract: Deployed, name: string, tell: (event: SeenEvent) => void) => Promise<() => void>
  readonly estimate: (
    contract: Deployed,
    name: string,
    args?: readonly unknown[],
    options?: WriteOptions,
  ) => Promise<bigint>
  /** A read that follows an `OffchainLookup`. */
  readonly lookUp: (contract: Deployed, name: string, args: readonly unknown[]) => Promise<unknown>
  /** What the library says of a failure; undefined where it does not take it for one of the contract. */
  readonly decodeFailure: (error: unknown, contract: Deployed) => DecodedFailure | undefined
  readonly close: () => void
}

/** What one adapter brings to the list. */
export interface ContractSubject {
  /** Opens it at an address of the service. */
  readonly open: (address: Service['app'] | Service['key'], privateKey: Hex) => ContractClient | Promise<ContractClient>
  /** What the library has not got, with or without us. It must still fail as is said here. */
  readonly cannot?: {
    /** Follow an `OffchainLookup`: it shows as the contract's own error. */
    readonly lookUp?: true
    /** Tell of events over HTTP: the words that it refuses with. */
    readonly watch?: RegExp
  }
}
