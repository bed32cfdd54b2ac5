import { methodNames } from '@keyrail/core'
import { findCustomTracer, mayTakeTracer } from './findCustomTracer.ts'
import { findShapeProblem } from './findShapeProblem.ts'
import {
  block,
  blockOverrides,
  byAddress,
  callObject,
  listOf,
  logFilter,
  overrides,
  plain,
  simulatePayload,
  traceConfig,
  tuple,
} from './paramShapes.ts'
import type { Shape } from './paramShapes.ts'
import { readDelegates, readTransactionTo } from './transactionTo.ts'

/** What a call reaches: each value must be an address of the list; or what it does that no list can allow, for a message. */
export type CallReach = { readonly addresses: readonly unknown[] } | { readonly forbidden: string }

/** What is checked of a method: the shape of its params, and then what they reach. */
interface Check {
  readonly shape: Shape
  readonly reach: (params: readonly unknown[]) => CallReach
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const withoutAddress: CallReach = { forbidden: 'call without an address' }
/** A program of the caller's choice may read any contract's storage. */
const customTracer: CallReach = { forbidden: "tracer of the caller's own" }

const member = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** An authorization for this address takes a delegation back. Source: EIP-7702. */
const zeroAddress = `0x${'0'.repeat(40)}`

/** A delegation puts a contract's code into an account, so the contract must be listed too. */
const delegatesOf = (addresses: readonly unknown[]): readonly unknown[] =>
  addresses.filter((address) => address !== zeroAddress)

/** A call object, which must name the contract: without `to` it would run code of the caller's choice. */
const reachOfCall = (call: unknown): CallReach => {
  const to = member(call, 'to')
  if (to === undefined || to === null) return withoutAddress
  const authorizations = itemsOf(member(call, 'authorizationList'))
  return { addresses: [to, ...delegatesOf(authorizations.map((one) => member(one, 'address')))] }
}

const reachOfCalls = (calls: readonly unknown[]): CallReach => {
  const reaches = calls.map(reachOfCall)
  const addresses = reaches.flatMap((reach) => ('addresses' in reach ? reach.addresses : []))
  return reaches.find((reach) => 'forbidden' in reach) ?? (addresses.length === 0 ? withoutAddress : { addresses })
}

const ofCall = (...more: readonly Shape[]): Check => ({
  shape: tuple(callObject, ...more),
  reach: ([call]) => reachOfCall(call),
})

/** A method whose first param, or the one at `index`, is the address that it reads. */
const ofAddress = (index: number, ...places: readonly Shape[]): Check => ({
  shape: tuple(...places),
  reach: (params) => ({ addresses: [params[index]] }),
})

/** Traces of what is in the chain belong into the method list, so any address may be in them. */
const ofChainTrace = (first: Shape): Check => ({
  shape: tuple(first, traceConfig),
  reach: () => ({ addresses: [] }),
})

/** Some nodes take a configuration after the block, with state overrides in it. */
const traceCalls: Check = {
  shape: tuple(listOf(tuple(callObject, plain)), block, overrides),
  reach: ([calls]) => reachOfCalls(itemsOf(calls).map((pair) => itemsOf(pair)[0])),
}

const simulation: Check = {
  shape: tuple(simulatePayload, block),
  reach: ([payload]) => {
    const blocks = itemsOf(member(payload, 'blockStateCalls'))
    return reachOfCalls(blocks.flatMap((one) => itemsOf(member(one, 'calls'))))
  },
}

/** A filter, which must name each contract: without an address it would give the logs of all. */
const filter: Check = {
  shape: tuple(logFilter),
  reach: ([value]) => {
    const address = member(value, 'address')
    if (Array.isArray(address)) return address.length === 0 ? withoutAddress : { addresses: address }
    return address === undefined || address === null ? withoutAddress : { addresses: [address] }
  },
}

const slots: Check = {
  shape: tuple(byAddress, block),
  reach: ([requests]) => {
    const addresses = isObject(requests) ? Object.keys(requests) : []
    return addresses.length === 0 ? withoutAddress : { addresses }
  },
}

const rawTransaction: Check = {
  shape: tuple(plain, plain, block, overrides),
  reach: ([text]) => {
    const read = readTransactionTo(text)
    const delegates = readDelegates(text)
    if (read === undefined || delegates === undefined) return { forbidden: 'transaction that cannot be read' }
    return 'to' in read ? { addresses: [read.to, ...delegatesOf(delegates)] } : { forbidden: 'contract creation' }
  },
}

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['eth_call', ofCall(block, overrides, blockOverrides)],
  ['eth_estimateGas', ofCall(block, overrides, blockOverrides)],
  ['eth_createAccessList', ofCall(block, overrides, plain)],
  ['eth_fillTransaction', ofCall(overrides)],
  ['eth_sendTransaction', ofCall(overrides)],
  ['eth_signTransaction', ofCall(overrides)],
  ['eth_simulateV1', simulation],
  ['debug_traceCall', ofCall(block, traceConfig)],
  ['trace_call', ofCall(plain, block, overrides, blockOverrides)],
  ['trace_callMany', traceCalls],
  ['eth_sendRawTransaction', rawTransaction],
  ['eth_sendRawTransactionSync', rawTransaction],
  ['trace_rawTransaction', rawTransaction],
  ['eth_getBalance', ofAddress(0, plain, block)],
  ['eth_getCode', ofAddress(0, plain, block)],
  ['eth_getStorageAt', ofAddress(0, plain, plain, block)],
  ['eth_getTransactionCount', ofAddress(0, plain, block)],
  ['eth_getTransactionBySenderAndNonce', ofAddress(0, plain, plain)],
  ['eth_getProof', ofAddress(0, plain, plain, block)],
  ['eth_getAccount', ofAddress(0, plain, block)],
  ['eth_getAccountInfo', ofAddress(0, plain, block)],
  ['debug_storageRangeAt', ofAddress(2, block, plain, plain, plain, plain)],
  ['eth_getStorageValues', slots],
  ['eth_getLogs', filter],
  ['eth_newFilter', filter],
  ['debug_traceTransaction', ofChainTrace(plain)],
  ['debug_traceBlockByHash', ofChainTrace(plain)],
  ['debug_traceBlockByNumber', ofChainTrace(block)],
  ['debug_traceBadBlock', ofChainTrace(plain)],
  ['debug_intermediateRoots', ofChainTrace(plain)],
])

/** These run a block that the caller brings along, so any code anywhere. */
const unbounded: readonly string[] = ['debug_traceBlock', 'testing_buildBlockV1']

const passing: ReadonlySet<string> = new Set(
  methodNames.filter((name) => !checks.has(name) && !unbounded.includes(name)),
)

/**
 * What a call reaches, for an app with an address list. Checked are the calls that run code, read an account or a contract, or send a
 * transaction; a member that their params do not have in the specification is forbidden. Of the schema's other methods (blocks, receipts,
 * fees, traces of what is in the chain) only the tracer is checked: they belong into the method list. A method that the schema does not
 * know cannot be checked.
 * @param params - Params, parsed. Their text must be known to hold no ambiguous name (`hasAmbiguousName`).
 * @returns `undefined` where nothing is to be checked.
 */
export const callAddresses = (method: string, params: unknown): CallReach | undefined => {
  if (mayTakeTracer(method) && findCustomTracer(params) !== undefined) return customTracer
  const check = checks.get(method)
  if (check === undefined)
    return passing.has(method) ? undefined : { forbidden: 'method whose addresses cannot be checked' }
  if (params !== undefined && !Array.isArray(params)) return { forbidden: 'params that are not a list' }
  const given: readonly unknown[] = params ?? []
  const problem = findShapeProblem(given, check.shape, 'params')
  return problem === undefined ? check.reach(given) : { forbidden: problem }
}

/** Whether anything of a method's params is checked against an address list. */
export const holdsAddresses = (method: string): boolean => !passing.has(method)
