/**
 * The allowed values at a position of a method's params:
 * - `plain`: a string, number, boolean or null, or a list of these. Not an object.
 * - `addresses`: an object whose member names are addresses, each with a plain value.
 * - `overrides`: state overrides. Only `null` and `{}` are allowed, because overrides can replace a contract's code.
 * - `tracer`: the options of a tracer. `findCustomTracer` checks the tracer itself.
 * - `members`: an object with these members and no others, or `null`. With `orPlain` also a string or number.
 * - `items`: a list of one shape, or `null`.
 * - `tuple`: a list with one shape per position; further items must be `null`.
 */
export type Shape =
  | { readonly kind: 'plain' }
  | { readonly kind: 'addresses' }
  | { readonly kind: 'overrides' }
  | { readonly kind: 'tracer' }
  | { readonly kind: 'members'; readonly members: ReadonlyMap<string, Shape>; readonly orPlain: boolean }
  | { readonly kind: 'items'; readonly item: Shape }
  | { readonly kind: 'tuple'; readonly positions: readonly Shape[] }

/** Plain values. */
export const plain: Shape = { kind: 'plain' }
/** State overrides, which must be empty. */
export const overrides: Shape = { kind: 'overrides' }
/** An object whose member names are addresses. */
export const byAddress: Shape = { kind: 'addresses' }
const tracerOptions: Shape = { kind: 'tracer' }

const members = (plainNames: readonly string[], others: Readonly<Record<string, Shape>> = {}): Shape => ({
  kind: 'members',
  members: new Map([...plainNames.map((name) => [name, plain] as const), ...Object.entries(others)]),
  orPlain: false,
})

/** A list of values of one shape. */
export const list = (item: Shape): Shape => ({ kind: 'items', item })

/** A list with one shape per position. */
export const tuple = (...positions: readonly Shape[]): Shape => ({ kind: 'tuple', positions })

/** Source: execution-apis, `AccessListEntry`. */
const accessListEntry = members(['address', 'storageKeys'])

/** Source: execution-apis, `AuthorizationList`; geth also uses `v` in place of `yParity` in signed ones. */
const authorization = members(['chainId', 'address', 'nonce', 'yParity', 'v', 'r', 's'])

/** A call or an incomplete transaction. Source: execution-apis, `GenericTransaction`; all clients for `data`, the old name of `input`. */
export const callObject: Shape = members(
  [
    'type',
    'nonce',
    'to',
    'from',
    'gas',
    'value',
    'input',
    'data',
    'gasPrice',
    'maxPriorityFeePerGas',
    'maxFeePerGas',
    'maxFeePerBlobGas',
    'blobVersionedHashes',
    'blobs',
    'commitments',
    'proofs',
    'chainId',
  ],
  { accessList: list(accessListEntry), authorizationList: list(authorization) },
)

/** Source: EIP-1898. */
export const block: Shape = {
  kind: 'members',
  members: new Map(['blockHash', 'blockNumber', 'requireCanonical'].map((name) => [name, plain])),
  orPlain: true,
}

/** Source: execution-apis, `BlockOverrides`; geth for `difficulty` and `beaconRoot`. */
export const blockOverrides: Shape = members(
  [
    'number',
    'prevRandao',
    'time',
    'gasLimit',
    'feeRecipient',
    'baseFeePerGas',
    'blobBaseFee',
    'difficulty',
    'beaconRoot',
  ],
  { withdrawals: list(members(['index', 'validatorIndex', 'address', 'amount'])) },
)

/** Source: execution-apis, `EthSimulatePayload`. */
export const simulatePayload: Shape = members(['traceTransfers', 'validation', 'returnFullTransactions'], {
  blockStateCalls: list(members([], { blockOverrides, stateOverrides: overrides, calls: list(callObject) })),
})

const logFilterNames = ['address', 'topics', 'fromBlock', 'toBlock', 'blockHash']
/** Source: execution-apis, `Filter`. */
export const logFilter: Shape = members(logFilterNames)

/** Source: Erigon and Nethermind, `trace_filter`. */
export const traceFilter: Shape = members([
  'fromBlock',
  'toBlock',
  'fromAddress',
  'toAddress',
  'after',
  'count',
  'mode',
])

const cursor: Shape = members(['number', 'hashes'])
/** The cursor of `eth_subscribe`: where a client continues. */
export const cursorOptions: Shape = members([], { cursor })
/** The param after the kind of a subscription: a filter of logs, a cursor, or whether whole transactions are wanted. */
export const subscriptionOptions: Shape = {
  kind: 'members',
  members: new Map([...logFilterNames.map((name) => [name, plain] as const), ['cursor', cursor] as const]),
  orPlain: true,
}

/**
 * Source: execution-apis, `TraceConfig`; geth for `reexec`, `debug` and the members of `debug_traceCall`; reth and Nethermind for
 * `disableMemory`; Erigon for `noRefunds`, and for state overrides in every trace.
 */
export const traceConfig: Shape = members(
  [
    'tracer',
    'timeout',
    'reexec',
    'disableStorage',
    'disableStack',
    'disableMemory',
    'enableMemory',
    'enableReturnData',
    'limit',
    'debug',
    'noRefunds',
    'txIndex',
  ],
  { tracerConfig: tracerOptions, stateOverrides: overrides, blockOverrides },
)
