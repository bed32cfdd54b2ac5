/** What a param is, for an address list: which value it may have, and which addresses are in it. The gateway's `addressParams.ts` has the rules. */
export type AddressParam =
  | 'address'
  | 'addresses'
  | 'block'
  | 'blockOverrides'
  | 'call'
  | 'calls'
  | 'cursor'
  | 'logFilter'
  | 'minedBlock'
  | 'overrides'
  | 'plain'
  | 'rawTransaction'
  | 'simulation'
  | 'subscription'
  | 'traceConfig'
  | 'traceFilter'

/** A group of methods beyond the specification, which a network of the service can offer: those of a standard, a chain, or a kind of node. */
export type MethodPreset =
  | 'arbitrum'
  | 'erc4337'
  | 'erigon'
  | 'linea'
  | 'op-stack'
  | 'otterscan'
  | 'polygon'
  | 'private-transactions'
  | 'zksync'

/**
 * What is known about a JSON-RPC method: a row of `methods.json`. All packages, in TypeScript and in Python, get it from there, through the slices
 * that `npm run methods` writes. A column that a row leaves out is false, or its default.
 *
 * The row `debug_*` has what all methods of that namespace have in common. It also applies to methods without a row of their own.
 *
 * @see https://github.com/ethereum/execution-apis
 */
export interface MethodRow {
  /** `EthereumRpc` has its type. */
  readonly typed?: true
  /**
   * `read`: it changes nothing, so it may be sent again when it is not known whether the first request arrived. `write`: it sends a transaction.
   * Without either, it may change something, and is never sent twice.
   */
  readonly access?: 'read' | 'write'
  /** The position of the param that names a block by number, tag or hash, or by an object as in EIP-1898. */
  readonly block?: number
  /** The position of the param that is the hash of a block. */
  readonly blockHash?: number
  /** The position of the param that is the hash of a transaction. */
  readonly transaction?: number
  /** The position of the param that names blocks by `fromBlock` and `toBlock`, or one by `blockHash`. */
  readonly range?: number
  /** The specification makes the block optional, with `latest` as the default. Not all nodes accept a call without it. */
  readonly optionalBlock?: true
  /** It takes the index of a transaction or an uncle in the block, so `null` may also say that the block has none at that index. */
  readonly index?: true
  /** It reads the state at its block: nodes that prune state have it for recent blocks only. */
  readonly state?: true
  /** It runs transactions of the chain again, for which a node needs the state before them. */
  readonly replays?: true
  /**
   * When the result for the same params stops changing: once the block is final that they name, or that has their transaction; or never does
   * on a chain. This is about the chain only: `cached` says what is cached.
   */
  readonly final?: 'block' | 'chain'
  /** The caches that store its final results: that of the SDK (`cache`), and that of the service. */
  readonly cached?: readonly ('sdk' | 'service')[]
  /**
   * The result contains the number of a block that the node has: it is that number, or a block, or something of a transaction in that block.
   * A block is the head if it was requested as `latest`.
   */
  readonly head?: 'number' | 'block' | 'transaction'
  /**
   * What the result is, if the params say which one it must be: the block, transaction or receipt with their hash, number or index, the receipts of
   * their block, or logs that match their filter.
   */
  readonly shows?: 'block' | 'transaction' | 'receipt' | 'receipts' | 'logs'
  /** The result is a quantity, or, of `eth_getStorageAt`, a word that some nodes write as one: zeros before it mean nothing. */
  readonly quantity?: true
  /**
   * What a result of `null` means. `absent`: the node does not have what the params name, although another one may. `answer`: a node that has
   * everything returns it too. `list`: some nodes return it for an empty list. Default: the method never returns it.
   */
  readonly null?: 'absent' | 'answer' | 'list'
  /** It can take a node seconds: it gets a longer deadline, and is neither joined into batches nor hedged. */
  readonly expensive?: true
  /** Its cost in compute units. @default 20 */
  readonly units?: number
  /** How to find out whether a call arrived whose response was lost: by the transaction, or by its receipt. */
  readonly lookUp?: 'transaction' | 'receipt'
  /** It runs code of a contract with a call that the caller passes, so an error with data is what the contract reverted with. */
  readonly runs?: true
  /** It searches logs or traces in a range of blocks, which providers limit. */
  readonly searches?: true
  /** What it does with a filter, which exists on one node only. */
  readonly filter?: 'create' | 'use' | 'remove'
  /** It starts or ends a subscription, which needs a WebSocket. */
  readonly subscription?: true
  /** When the service offers it: always, or if `services` enables this namespace, or for development nodes. Default: never. */
  readonly service?: 'always' | 'debug' | 'trace' | 'txpool' | 'development'
  /** The service offers it only on a network with one of these presets, and then also without `service`. */
  readonly presets?: readonly MethodPreset[]
  /**
   * What an address list does with it: checks each param as named here; `none`: nothing, because it names no address and shows only what is on the
   * chain; `rejected`: rejects it. Each method that the service offers has a value.
   */
  readonly addresses?: readonly AddressParam[] | 'none' | 'rejected'
}
