import type { AddressParam } from '@keyrail/core/internal'
import type { OfferedMethod } from '../../lib/methods.ts'
import { addressParams } from './addressParams.ts'
import type { CallAddresses } from './addressParams.ts'
import { acceptsTracer, findCustomTracer } from './findCustomTracer.ts'
import { findShapeProblem } from './findShapeProblem.ts'
import { tuple } from './paramShapes.ts'
import type { Shape } from './paramShapes.ts'

/** A custom tracer may read the storage of any contract. */
const customTracer: CallAddresses = { forbidden: "tracer of the caller's own" }

interface AddressCheck {
  readonly shape: Shape
  readonly find: (params: readonly unknown[]) => CallAddresses
}

const createCheck = (kinds: readonly AddressParam[]): AddressCheck => {
  const rules = kinds.map((kind) => addressParams[kind])
  return {
    shape: tuple(...rules.map(({ shape }) => shape)),
    find: (params) => {
      const found = rules.map((rule, index) => rule.find?.(params[index], params) ?? { addresses: [] })
      return (
        found.find((one) => 'forbidden' in one) ?? {
          addresses: found.flatMap((one) => ('addresses' in one ? one.addresses : [])),
        }
      )
    },
  }
}

/** The checks by the column `addresses` of a row, which the config can have too. */
const checks = new WeakMap<readonly AddressParam[], AddressCheck>()

const getCheck = (kinds: readonly AddressParam[]): AddressCheck => {
  let found = checks.get(kinds)
  if (found === undefined) checks.set(kinds, (found = createCheck(kinds)))
  return found
}

/**
 * Finds the addresses of a call, for an app with an address list. This covers calls that execute code, read an account or contract, or send
 * a transaction. Members that the specification does not have are forbidden. For the other methods (blocks, receipts, fees, traces of existing
 * transactions) only the block and the tracer are checked; the method list controls them. The column `addresses` of a method's row
 * names what each param is; a method without a row cannot be checked.
 * @param params - The parsed params. Check their text with `hasAmbiguousName` first.
 * @returns `undefined` if there is nothing to check.
 */
export const findCallAddresses = (row: OfferedMethod | undefined, params: unknown): CallAddresses | undefined => {
  if (acceptsTracer(row) && findCustomTracer(params) !== undefined) return customTracer
  if (!needsAddressCheck(row)) return undefined
  const kinds = row?.addresses
  if (typeof kinds !== 'object') return { forbidden: 'method whose addresses cannot be checked' }
  if (params !== undefined && !Array.isArray(params)) return { forbidden: 'params that are not a list' }
  const given: readonly unknown[] = params ?? []
  const { shape, find } = getCheck(kinds)
  const problem = findShapeProblem(given, shape, 'params')
  return problem === undefined ? find(given) : { forbidden: problem }
}

/** Whether the params of a method are checked against an address list. */
export const needsAddressCheck = (row: OfferedMethod | undefined): boolean => row?.addresses !== 'none'
