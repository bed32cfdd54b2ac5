import type { AddressParam } from '@keyrail/core/internal'
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
import { parseTransactionTargets } from './parseTransactionTargets.ts'

/** The addresses that a call uses, each of which must be listed; or what makes it incompatible with any address list, for a message. */
export type CallAddresses = { readonly addresses: readonly unknown[] } | { readonly forbidden: string }

/** What an address list does with a param. */
interface ParamRule {
  /** The values that are allowed. */
  readonly shape: Shape
  /** Finds the addresses in it. @default there are none */
  readonly find?: (value: unknown, params: readonly unknown[]) => CallAddresses
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

const findInTransaction = (text: unknown): CallAddresses => {
  const targets = parseTransactionTargets(text)
  if (targets === undefined) return { forbidden: 'invalid transaction' }
  const { to, delegates } = targets
  return to === undefined ? { forbidden: 'contract creation' } : { addresses: [to, ...filterDelegates(delegates)] }
}

const findInTraceFilter = (value: unknown): CallAddresses => {
  if (!hasMinedBlocks(value)) return notMined
  const lists = ['fromAddress', 'toAddress'].map((name) => getMember(value, name))
  const addresses = lists.flatMap((given) => (Array.isArray(given) ? (given as unknown[]) : (given ?? [])))
  return addresses.length === 0 ? withoutAddress : { addresses }
}

/** The rule of each kind of param that the table of methods names in its column `addresses`. */
export const addressParams: Readonly<Record<AddressParam, ParamRule>> = {
  address: { shape: plain, find: (value) => ({ addresses: [value] }) },
  addresses: {
    shape: byAddress,
    find: (value) => {
      const addresses = isObject(value) ? Object.keys(value) : []
      return addresses.length === 0 ? withoutAddress : { addresses }
    },
  },
  block: { shape: block },
  blockOverrides: { shape: blockOverrides },
  call: { shape: callObject, find: findInCall },
  // Some nodes accept a configuration with state overrides after the block.
  calls: {
    shape: list(tuple(callObject, plain)),
    find: (calls) => findInCalls(toList(calls).map((pair) => toList(pair)[0])),
  },
  cursor: { shape: cursorOptions },
  logFilter: { shape: logFilter, find: findInFilter },
  // The method shows the block. Some nodes also accept a tag in place of a hash. Source: Erigon, `GetBlockByHash`.
  minedBlock: { shape: block, find: (value) => (isMined(value) ? { addresses: [] } : notMined) },
  overrides: { shape: overrides },
  plain: { shape: plain },
  rawTransaction: { shape: plain, find: findInTransaction },
  simulation: {
    shape: simulatePayload,
    find: (payload) => {
      const blocks = toList(getMember(payload, 'blockStateCalls'))
      return findInCalls(blocks.flatMap((one) => toList(getMember(one, 'calls'))))
    },
  },
  // Source: execution-apis and geth for the kinds; the cursor is our own.
  subscription: {
    shape: subscriptionOptions,
    find: (value, [kind]) => {
      if (kind === 'logs') return findInFilter(value)
      return kind === 'newPendingTransactions' ? { forbidden: 'newPendingTransactions' } : { addresses: [] }
    },
  },
  traceConfig: { shape: traceConfig },
  // Without an address, it returns the traces of all contracts.
  traceFilter: { shape: traceFilter, find: findInTraceFilter },
}
