import {
  block,
  blockOverrides,
  byAddress,
  callObject,
  cursorOptions,
  list,
  logFilter,
  overrides,
  plain,
  simulatePayload,
  subscriptionOptions,
  traceConfig,
  traceFilter,
  tuple,
} from './paramShapes.ts'
import type { Shape } from './paramShapes.ts'
import { parseDelegates, parseTransactionTo } from './transactionTo.ts'

/** The addresses that a call uses, each of which must be listed; or what makes it incompatible with any address list, for a message. */
export type CallAddresses = { readonly addresses: readonly unknown[] } | { readonly forbidden: string }

/** The check of a method: the shape of its params, then the addresses in them. */
export interface AddressCheck {
  readonly shape: Shape
  readonly find: (params: readonly unknown[]) => CallAddresses
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const withoutAddress: CallAddresses = { forbidden: 'call without an address' }

const getMember = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** An authorization for this address revokes a delegation. Source: EIP-7702. */
const zeroAddress = `0x${'0'.repeat(40)}`

/** A delegation makes an account run a contract's code, so the contract must be listed too. */
const filterDelegates = (addresses: readonly unknown[]): readonly unknown[] =>
  addresses.filter((address) => address !== zeroAddress)

/** A call object must have `to`. Otherwise it runs code that the caller chose. */
const findInCall = (call: unknown): CallAddresses => {
  const to = getMember(call, 'to')
  if (to === undefined || to === null) return withoutAddress
  const authorizations = toList(getMember(call, 'authorizationList'))
  return { addresses: [to, ...filterDelegates(authorizations.map((one) => getMember(one, 'address')))] }
}

const findInCalls = (calls: readonly unknown[]): CallAddresses => {
  const found = calls.map(findInCall)
  const addresses = found.flatMap((one) => ('addresses' in one ? one.addresses : []))
  return found.find((one) => 'forbidden' in one) ?? (addresses.length === 0 ? withoutAddress : { addresses })
}

const createCallCheck = (...more: readonly Shape[]): AddressCheck => ({
  shape: tuple(callObject, ...more),
  find: ([call]) => findInCall(call),
})

/** A method that reads the address at `index` of its params. */
const createAddressCheck = (index: number, ...positions: readonly Shape[]): AddressCheck => ({
  shape: tuple(...positions),
  find: (params) => ({ addresses: [params[index]] }),
})

/** A trace of an existing transaction may have any address. The method list controls such methods. */
const transactionTrace: AddressCheck = { shape: tuple(plain, traceConfig), find: () => ({ addresses: [] }) }

/** Some nodes accept a configuration with state overrides after the block. */
const traceCalls: AddressCheck = {
  shape: tuple(list(tuple(callObject, plain)), block, overrides),
  find: ([calls]) => findInCalls(toList(calls).map((pair) => toList(pair)[0])),
}

const simulation: AddressCheck = {
  shape: tuple(simulatePayload, block),
  find: ([payload]) => {
    const blocks = toList(getMember(payload, 'blockStateCalls'))
    return findInCalls(blocks.flatMap((one) => toList(getMember(one, 'calls'))))
  },
}

/** Blocks that are mined, and what some nodes take as the latest one. A list of what is accepted, because nodes spell `pending` in several ways. */
const isMined = (value: unknown): boolean => {
  if (isObject(value)) return isMined(value['blockHash']) && isMined(value['blockNumber'])
  if (value === undefined || value === null) return true
  if (typeof value === 'number') return value >= 0
  return typeof value === 'string' && /^(?:0x[\da-f]+|\d+|latest|safe|finalized|earliest)$/i.test(value)
}

/** What shows it has transactions that are not on the chain yet. */
const notMined: CallAddresses = { forbidden: 'block that is not mined' }

/** The first and last block of a filter, or its only one. */
const hasMinedBlocks = (value: unknown): boolean =>
  ['fromBlock', 'toBlock', 'blockHash'].every((name) => isMined(getMember(value, name)))

/** A filter must have an address. Otherwise it returns the logs of all contracts. */
const findInFilter = (value: unknown): CallAddresses => {
  if (!hasMinedBlocks(value)) return notMined
  const address = getMember(value, 'address')
  if (Array.isArray(address)) return address.length === 0 ? withoutAddress : { addresses: address }
  return address === undefined || address === null ? withoutAddress : { addresses: [address] }
}

const filter: AddressCheck = { shape: tuple(logFilter), find: ([value]) => findInFilter(value) }

/** Source: execution-apis and geth for the kinds; the cursor is our own. */
const subscription: AddressCheck = {
  shape: tuple(plain, subscriptionOptions, cursorOptions),
  find: ([kind, value]) => {
    if (kind === 'logs') return findInFilter(value)
    return kind === 'newPendingTransactions' ? { forbidden: 'newPendingTransactions' } : { addresses: [] }
  },
}

const slots: AddressCheck = {
  shape: tuple(byAddress, block),
  find: ([requests]) => {
    const addresses = isObject(requests) ? Object.keys(requests) : []
    return addresses.length === 0 ? withoutAddress : { addresses }
  },
}

const rawTransaction: AddressCheck = {
  shape: tuple(plain, plain, block, overrides),
  find: ([text]) => {
    const target = parseTransactionTo(text)
    const delegates = parseDelegates(text)
    if (target === undefined || delegates === undefined) return { forbidden: 'invalid transaction' }
    return 'to' in target
      ? { addresses: [target.to, ...filterDelegates(delegates)] }
      : { forbidden: 'contract creation' }
  },
}

/** The method shows a block. */
const createBlockCheck = (...more: readonly Shape[]): AddressCheck => ({
  shape: tuple(block, ...more),
  find: ([value]) => (isMined(value) ? { addresses: [] } : notMined),
})

/** Without an address, it returns the traces of all contracts. */
const tracesByAddress: AddressCheck = {
  shape: tuple(traceFilter),
  find: ([value]) => {
    if (!hasMinedBlocks(value)) return notMined
    const lists = ['fromAddress', 'toAddress'].map((name) => getMember(value, name))
    const addresses = lists.flatMap((given) => (Array.isArray(given) ? (given as unknown[]) : (given ?? [])))
    return addresses.length === 0 ? withoutAddress : { addresses }
  },
}

/**
 * What an address list does with each method that the service can offer: a check of its params; `none` if it names no address and shows only what is
 * on the chain, so that the method list controls it; or `rejected`.
 */
export const addressTable: Readonly<Record<string, AddressCheck | 'none' | 'rejected'>> = {
  // Run code, or send a transaction.
  eth_call: createCallCheck(block, overrides, blockOverrides),
  eth_estimateGas: createCallCheck(block, overrides, blockOverrides),
  eth_createAccessList: createCallCheck(block, overrides, plain),
  eth_fillTransaction: createCallCheck(overrides),
  eth_simulateV1: simulation,
  debug_traceCall: createCallCheck(block, traceConfig),
  trace_call: createCallCheck(plain, block, overrides, blockOverrides),
  trace_callMany: traceCalls,
  eth_sendRawTransaction: rawTransaction,
  eth_sendRawTransactionSync: rawTransaction,
  trace_rawTransaction: rawTransaction,
  // Run a block of the caller, and so any code.
  debug_traceBlock: 'rejected',

  // Read an account.
  eth_getBalance: createAddressCheck(0, plain, block),
  eth_getCode: createAddressCheck(0, plain, block),
  eth_getStorageAt: createAddressCheck(0, plain, plain, block),
  eth_getTransactionCount: createAddressCheck(0, plain, block),
  eth_getProof: createAddressCheck(0, plain, plain, block),
  eth_getAccount: createAddressCheck(0, plain, block),
  eth_getAccountInfo: createAddressCheck(0, plain, block),
  eth_getStorageValues: slots,
  debug_storageRangeAt: createAddressCheck(2, block, plain, plain, plain, plain),

  // Logs and traces by address.
  eth_getLogs: filter,
  eth_newFilter: filter,
  eth_subscribe: subscription,
  trace_filter: tracesByAddress,

  // Transactions that are not on the chain yet.
  eth_getTransactionBySenderAndNonce: 'rejected',
  eth_newPendingTransactionFilter: 'rejected',
  txpool_content: 'rejected',
  txpool_contentFrom: 'rejected',
  txpool_inspect: 'rejected',
  txpool_status: 'rejected',

  // Blocks and what is in them, by number.
  debug_executionWitness: createBlockCheck(),
  debug_getRawBlock: createBlockCheck(),
  debug_getRawBlockAccessList: createBlockCheck(),
  debug_getRawHeader: createBlockCheck(),
  debug_getRawReceipts: createBlockCheck(),
  eth_getBlockAccessList: createBlockCheck(),
  eth_getBlockByNumber: createBlockCheck(plain),
  eth_getBlockReceipts: createBlockCheck(),
  eth_getBlockTransactionCountByNumber: createBlockCheck(),
  eth_getHeaderByNumber: createBlockCheck(),
  eth_getRawTransactionByBlockNumberAndIndex: createBlockCheck(plain),
  eth_getTransactionByBlockNumberAndIndex: createBlockCheck(plain),
  eth_getUncleByBlockNumberAndIndex: createBlockCheck(plain),
  eth_getUncleCountByBlockNumber: createBlockCheck(),
  trace_block: createBlockCheck(),
  trace_replayBlockTransactions: createBlockCheck(plain),
  debug_traceBlockByNumber: createBlockCheck(traceConfig),

  // Blocks and what is in them, by hash. Some nodes also accept a tag here. Source: Erigon, `GetBlockByHash`.
  debug_intermediateRoots: createBlockCheck(traceConfig),
  debug_traceBadBlock: createBlockCheck(traceConfig),
  debug_traceBlockByHash: createBlockCheck(traceConfig),
  eth_getBlockByHash: createBlockCheck(plain),
  eth_getBlockTransactionCountByHash: createBlockCheck(),
  eth_getHeaderByHash: createBlockCheck(),
  eth_getRawTransactionByBlockHashAndIndex: createBlockCheck(plain),
  eth_getTransactionByBlockHashAndIndex: createBlockCheck(plain),
  eth_getUncleByBlockHashAndIndex: createBlockCheck(plain),
  eth_getUncleCountByBlockHash: createBlockCheck(),

  // By the hash of a transaction, pending ones too: a caller who has its hash knows of it.
  debug_getRawTransaction: 'none',
  // Only the tracer is checked.
  debug_traceTransaction: transactionTrace,
  eth_getRawTransactionByHash: 'none',
  eth_getTransactionByHash: 'none',
  eth_getTransactionReceipt: 'none',
  trace_get: 'none',
  trace_replayTransaction: 'none',
  trace_transaction: 'none',

  // A filter that exists was created under the same list: a change of the list ends it.
  eth_getFilterChanges: 'none',
  eth_getFilterLogs: 'none',
  eth_newBlockFilter: 'none',
  eth_uninstallFilter: 'none',
  eth_unsubscribe: 'none',

  // About the node and the chain.
  debug_getBadBlocks: 'none',
  eth_accounts: 'none',
  eth_baseFee: 'none',
  eth_blobBaseFee: 'none',
  eth_blockNumber: 'none',
  eth_capabilities: 'none',
  eth_chainId: 'none',
  eth_coinbase: 'none',
  eth_config: 'none',
  eth_feeHistory: 'none',
  eth_gasPrice: 'none',
  eth_hashrate: 'none',
  eth_maxPriorityFeePerGas: 'none',
  eth_mining: 'none',
  eth_protocolVersion: 'none',
  eth_syncing: 'none',
  net_listening: 'none',
  net_peerCount: 'none',
  net_version: 'none',
  web3_clientVersion: 'none',
  web3_sha3: 'none',
}
