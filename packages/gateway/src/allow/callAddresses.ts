import { methodNames } from '@keyrail/core'
import { foldName } from './hasAmbiguousName.ts'
import { readTransactionTo } from './transactionTo.ts'

/** What a call reaches: each value must be an address of the list; or what it does that no list can allow, for a message. */
export type CallReach = { readonly addresses: readonly unknown[] } | { readonly forbidden: string }

type Reach = (params: readonly unknown[]) => CallReach

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const withoutAddress: CallReach = { forbidden: 'call without an address' }
const overrides: CallReach = { forbidden: 'state overrides' }

const member = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** A member that must not be there under any name that some reader takes for it. */
const anyMember = (value: unknown, name: string): unknown =>
  isObject(value) ? Object.entries(value).find(([key]) => foldName(key) === foldName(name))?.[1] : undefined

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0)

const addressAt =
  (index: number): Reach =>
  (params) => ({ addresses: [params[index]] })

/** A call object, which must name the contract: without `to` it would run code of the caller's own. */
const reachOfCall = (call: unknown): CallReach => {
  const to = member(call, 'to')
  return to === undefined || to === null ? withoutAddress : { addresses: [to] }
}

const reachOfCalls = (calls: readonly unknown[]): CallReach => {
  const reaches = calls.map(reachOfCall)
  const addresses = reaches.flatMap((reach) => ('addresses' in reach ? reach.addresses : []))
  return reaches.find((reach) => 'forbidden' in reach) ?? (addresses.length === 0 ? withoutAddress : { addresses })
}

/** A call, with state overrides at `overridesAt`: they put code of the caller's own in place of a contract's. */
const callWith =
  (overridesAt: number): Reach =>
  (params) =>
    isNothing(params[overridesAt]) ? reachOfCall(params[0]) : overrides

const traceCall: Reach = ([call, , config]) => {
  if (!isNothing(anyMember(config, 'stateOverrides'))) return overrides
  const tracer = anyMember(config, 'tracer')
  // What is no name is a program, and it may read any contract's storage.
  if (!isNothing(tracer) && !(typeof tracer === 'string' && /^[A-Za-z0-9_]{1,64}$/.test(tracer)))
    return { forbidden: "tracer of the caller's own" }
  return reachOfCall(call)
}

/** Some nodes take a configuration after the block, with state overrides in it. */
const traceCalls: Reach = ([calls, , config]) => {
  if (!isNothing(config)) return overrides
  if (!Array.isArray(calls)) return withoutAddress
  return reachOfCalls(calls.map((pair: unknown) => (Array.isArray(pair) ? pair[0] : undefined)))
}

const simulation: Reach = ([payload]) => {
  const blocks = member(payload, 'blockStateCalls')
  if (!Array.isArray(blocks)) return withoutAddress
  if (blocks.some((block) => !isNothing(anyMember(block, 'stateOverrides')))) return overrides
  const calls = blocks.map((block) => member(block, 'calls') ?? [])
  return calls.every((list) => Array.isArray(list)) ? reachOfCalls(calls.flat()) : withoutAddress
}

/** A filter, which must name each contract: without an address it would give the logs of all. */
const filter: Reach = ([value]) => {
  const address = member(value, 'address')
  if (Array.isArray(address)) return address.length === 0 ? withoutAddress : { addresses: address }
  return address === undefined || address === null ? withoutAddress : { addresses: [address] }
}

const slots: Reach = ([requests]) => {
  const addresses = isObject(requests) ? Object.keys(requests) : []
  return addresses.length === 0 ? withoutAddress : { addresses }
}

const rawTransaction: Reach = ([text]) => {
  const read = readTransactionTo(text)
  if (read === undefined) return { forbidden: 'transaction that cannot be read' }
  return 'to' in read ? { addresses: [read.to] } : { forbidden: 'contract creation' }
}

const reaches: ReadonlyMap<string, Reach> = new Map<string, Reach>([
  ['eth_call', callWith(2)],
  ['eth_estimateGas', callWith(2)],
  ['eth_createAccessList', callWith(2)],
  ['eth_fillTransaction', callWith(1)],
  ['eth_sendTransaction', callWith(1)],
  ['eth_signTransaction', callWith(1)],
  ['eth_simulateV1', simulation],
  ['debug_traceCall', traceCall],
  ['trace_call', callWith(3)],
  ['trace_callMany', traceCalls],
  ['eth_sendRawTransaction', rawTransaction],
  ['eth_sendRawTransactionSync', rawTransaction],
  ['trace_rawTransaction', rawTransaction],
  ['eth_getBalance', addressAt(0)],
  ['eth_getCode', addressAt(0)],
  ['eth_getStorageAt', addressAt(0)],
  ['eth_getTransactionCount', addressAt(0)],
  ['eth_getTransactionBySenderAndNonce', addressAt(0)],
  ['eth_getProof', addressAt(0)],
  ['eth_getAccount', addressAt(0)],
  ['eth_getAccountInfo', addressAt(0)],
  ['debug_storageRangeAt', addressAt(2)],
  ['eth_getStorageValues', slots],
  ['eth_getLogs', filter],
  ['eth_newFilter', filter],
])

/** These run a block that the caller brings along, so any code anywhere. */
const unbounded: readonly string[] = ['debug_traceBlock', 'testing_buildBlockV1']

const passing: ReadonlySet<string> = new Set(
  methodNames.filter((name) => !reaches.has(name) && !unbounded.includes(name)),
)

/**
 * What a call reaches, for an app with an address list. Checked are the calls that run code, read an account or a contract, or send a
 * transaction. Of the schema's other methods (blocks, receipts, fees, traces of what is in the chain) nothing is asked: they belong into
 * the method list. A method that the schema does not know cannot be checked.
 * @param params - Params, parsed. Their text must be known to hold no ambiguous name (`hasAmbiguousName`).
 * @returns `undefined` where nothing is to be checked.
 */
export const callAddresses = (method: string, params: unknown): CallReach | undefined => {
  const reach = reaches.get(method)
  if (reach !== undefined) return Array.isArray(params) ? reach(params) : withoutAddress
  return passing.has(method) ? undefined : { forbidden: 'method whose addresses cannot be checked' }
}

/** Whether anything of a method's params is checked against an address list. */
export const holdsAddresses = (method: string): boolean => !passing.has(method)
