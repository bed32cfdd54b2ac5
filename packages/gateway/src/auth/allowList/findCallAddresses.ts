import { methodNames } from '@keyrail/core'
import { findCustomTracer, acceptsTracer } from './findCustomTracer.ts'
import { findShapeProblem } from './findShapeProblem.ts'
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
  tuple,
} from './paramShapes.ts'
import type { Shape } from './paramShapes.ts'
import { subscriptionMethods, txpoolMethods } from './methodNames.ts'
import { parseDelegates, parseTransactionTo } from './transactionTo.ts'

/** The addresses that a call uses, each of which must be listed; or what makes it incompatible with any address list, for a message. */
export type CallAddresses = { readonly addresses: readonly unknown[] } | { readonly forbidden: string }

/** The check of a method: the shape of its params, then the addresses in them. */
interface Check {
  readonly shape: Shape
  readonly find: (params: readonly unknown[]) => CallAddresses
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const withoutAddress: CallAddresses = { forbidden: 'call without an address' }
/** A custom tracer may read the storage of any contract. */
const customTracer: CallAddresses = { forbidden: "tracer of the caller's own" }

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

const createCallCheck = (...more: readonly Shape[]): Check => ({
  shape: tuple(callObject, ...more),
  find: ([call]) => findInCall(call),
})

/** A method that reads the address at `index` of its params. */
const createAddressCheck = (index: number, ...positions: readonly Shape[]): Check => ({
  shape: tuple(...positions),
  find: (params) => ({ addresses: [params[index]] }),
})

/** A trace of existing transactions may have any address. The method list controls such methods. */
const createChainTraceCheck = (first: Shape): Check => ({
  shape: tuple(first, traceConfig),
  find: () => ({ addresses: [] }),
})

/** Some nodes accept a configuration with state overrides after the block. */
const traceCalls: Check = {
  shape: tuple(list(tuple(callObject, plain)), block, overrides),
  find: ([calls]) => findInCalls(toList(calls).map((pair) => toList(pair)[0])),
}

const simulation: Check = {
  shape: tuple(simulatePayload, block),
  find: ([payload]) => {
    const blocks = toList(getMember(payload, 'blockStateCalls'))
    return findInCalls(blocks.flatMap((one) => toList(getMember(one, 'calls'))))
  },
}

/** A filter must have an address. Otherwise it returns the logs of all contracts. */
const findInFilter = (value: unknown): CallAddresses => {
  const address = getMember(value, 'address')
  if (Array.isArray(address)) return address.length === 0 ? withoutAddress : { addresses: address }
  return address === undefined || address === null ? withoutAddress : { addresses: [address] }
}

const filter: Check = { shape: tuple(logFilter), find: ([value]) => findInFilter(value) }

/** Source: execution-apis and geth for the kinds; the cursor is our own. */
const subscription: Check = {
  shape: tuple(plain, subscriptionOptions, cursorOptions),
  find: ([kind, value]) => {
    if (kind === 'logs') return findInFilter(value)
    return kind === 'newPendingTransactions' ? { forbidden: 'newPendingTransactions' } : { addresses: [] }
  },
}

const slots: Check = {
  shape: tuple(byAddress, block),
  find: ([requests]) => {
    const addresses = isObject(requests) ? Object.keys(requests) : []
    return addresses.length === 0 ? withoutAddress : { addresses }
  },
}

const rawTransaction: Check = {
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

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['eth_call', createCallCheck(block, overrides, blockOverrides)],
  ['eth_estimateGas', createCallCheck(block, overrides, blockOverrides)],
  ['eth_createAccessList', createCallCheck(block, overrides, plain)],
  ['eth_fillTransaction', createCallCheck(overrides)],
  ['eth_sendTransaction', createCallCheck(overrides)],
  ['eth_signTransaction', createCallCheck(overrides)],
  ['eth_simulateV1', simulation],
  ['debug_traceCall', createCallCheck(block, traceConfig)],
  ['trace_call', createCallCheck(plain, block, overrides, blockOverrides)],
  ['trace_callMany', traceCalls],
  ['eth_sendRawTransaction', rawTransaction],
  ['eth_sendRawTransactionSync', rawTransaction],
  ['trace_rawTransaction', rawTransaction],
  ['eth_getBalance', createAddressCheck(0, plain, block)],
  ['eth_getCode', createAddressCheck(0, plain, block)],
  ['eth_getStorageAt', createAddressCheck(0, plain, plain, block)],
  ['eth_getTransactionCount', createAddressCheck(0, plain, block)],
  ['eth_getTransactionBySenderAndNonce', createAddressCheck(0, plain, plain)],
  ['eth_getProof', createAddressCheck(0, plain, plain, block)],
  ['eth_getAccount', createAddressCheck(0, plain, block)],
  ['eth_getAccountInfo', createAddressCheck(0, plain, block)],
  ['debug_storageRangeAt', createAddressCheck(2, block, plain, plain, plain, plain)],
  ['eth_getStorageValues', slots],
  ['eth_getLogs', filter],
  ['eth_newFilter', filter],
  ['eth_subscribe', subscription],
  ['debug_traceTransaction', createChainTraceCheck(plain)],
  ['debug_traceBlockByHash', createChainTraceCheck(plain)],
  ['debug_traceBlockByNumber', createChainTraceCheck(block)],
  ['debug_traceBadBlock', createChainTraceCheck(plain)],
  ['debug_intermediateRoots', createChainTraceCheck(plain)],
])

/**
 * Methods that no app with an address list may use. The first two execute a block from the caller, and so arbitrary code. `txpool_` methods show
 * transactions that are not on the chain yet, to and from any address.
 */
const unchecked: readonly string[] = ['debug_traceBlock', 'testing_buildBlockV1', ...txpoolMethods]

const withoutAddresses: ReadonlySet<string> = new Set(
  [...methodNames, ...subscriptionMethods].filter((name) => !checks.has(name) && !unchecked.includes(name)),
)

/**
 * Finds the addresses of a call, for an app with an address list. This covers calls that execute code, read an account or contract, or send
 * a transaction. Members that the specification does not have are forbidden. For the schema's other methods (blocks, receipts, fees, traces
 * of existing transactions) only the tracer is checked; the method list controls them. A method outside the schema cannot be checked.
 * @param params - The parsed params. Check their text with `hasAmbiguousName` first.
 * @returns `undefined` if there is nothing to check.
 */
export const findCallAddresses = (method: string, params: unknown): CallAddresses | undefined => {
  if (acceptsTracer(method) && findCustomTracer(params) !== undefined) return customTracer
  const check = checks.get(method)
  if (check === undefined)
    return withoutAddresses.has(method) ? undefined : { forbidden: 'method whose addresses cannot be checked' }
  if (params !== undefined && !Array.isArray(params)) return { forbidden: 'params that are not a list' }
  const given: readonly unknown[] = params ?? []
  const problem = findShapeProblem(given, check.shape, 'params')
  return problem === undefined ? check.find(given) : { forbidden: problem }
}

/** Whether the params of a method are checked against an address list. */
export const needsAddressCheck = (method: string): boolean => !withoutAddresses.has(method)
