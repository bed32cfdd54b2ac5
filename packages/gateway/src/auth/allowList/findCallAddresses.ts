import { addressTable } from './addressTable.ts'
import type { CallAddresses } from './addressTable.ts'
import { acceptsTracer, findCustomTracer } from './findCustomTracer.ts'
import { findShapeProblem } from './findShapeProblem.ts'

/** A custom tracer may read the storage of any contract. */
const customTracer: CallAddresses = { forbidden: "tracer of the caller's own" }

/** Not a plain look-up: a method could be called `constructor`. */
const getEntry = (method: string) => (Object.hasOwn(addressTable, method) ? addressTable[method] : undefined)

/**
 * Finds the addresses of a call, for an app with an address list. This covers calls that execute code, read an account or contract, or send
 * a transaction. Members that the specification does not have are forbidden. For the other methods (blocks, receipts, fees, traces of existing
 * transactions) only the block and the tracer are checked; the method list controls them. A method outside the table cannot be checked.
 * @param params - The parsed params. Check their text with `hasAmbiguousName` first.
 * @returns `undefined` if there is nothing to check.
 */
export const findCallAddresses = (method: string, params: unknown): CallAddresses | undefined => {
  if (acceptsTracer(method) && findCustomTracer(params) !== undefined) return customTracer
  const entry = getEntry(method)
  if (entry === 'none') return undefined
  if (entry === undefined || entry === 'rejected') return { forbidden: 'method whose addresses cannot be checked' }
  if (params !== undefined && !Array.isArray(params)) return { forbidden: 'params that are not a list' }
  const given: readonly unknown[] = params ?? []
  const problem = findShapeProblem(given, entry.shape, 'params')
  return problem === undefined ? entry.find(given) : { forbidden: problem }
}

/** Whether the params of a method are checked against an address list. */
export const needsAddressCheck = (method: string): boolean => getEntry(method) !== 'none'
