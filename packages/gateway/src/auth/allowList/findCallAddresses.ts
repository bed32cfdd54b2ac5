import { methods } from '../../lib/methods.ts'
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

/** The check of each method of which an address list checks the params. */
const checks: ReadonlyMap<string, AddressCheck> = new Map(
  [...methods].flatMap(([name, { addresses = 'rejected' }]): [string, AddressCheck][] => {
    if (typeof addresses === 'string') return []
    const rules = addresses.map((kind) => addressParams[kind])
    const find: AddressCheck['find'] = (params) => {
      const found = rules.map((rule, index) => rule.find?.(params[index], params) ?? { addresses: [] })
      return (
        found.find((one) => 'forbidden' in one) ?? {
          addresses: found.flatMap((one) => ('addresses' in one ? one.addresses : [])),
        }
      )
    }
    return [[name, { shape: tuple(...rules.map(({ shape }) => shape)), find }]]
  }),
)

/**
 * Finds the addresses of a call, for an app with an address list. This covers calls that execute code, read an account or contract, or send
 * a transaction. Members that the specification does not have are forbidden. For the other methods (blocks, receipts, fees, traces of existing
 * transactions) only the block and the tracer are checked; the method list controls them. The column `addresses` of the table of
 * methods names what each param is; a method outside the table cannot be checked.
 * @param params - The parsed params. Check their text with `hasAmbiguousName` first.
 * @returns `undefined` if there is nothing to check.
 */
export const findCallAddresses = (method: string, params: unknown): CallAddresses | undefined => {
  if (acceptsTracer(methods.get(method)) && findCustomTracer(params) !== undefined) return customTracer
  if (!needsAddressCheck(method)) return undefined
  const addressCheck = checks.get(method)
  if (addressCheck === undefined) return { forbidden: 'method whose addresses cannot be checked' }
  if (params !== undefined && !Array.isArray(params)) return { forbidden: 'params that are not a list' }
  const given: readonly unknown[] = params ?? []
  const problem = findShapeProblem(given, addressCheck.shape, 'params')
  return problem === undefined ? addressCheck.find(given) : { forbidden: problem }
}

/** Whether the params of a method are checked against an address list. */
export const needsAddressCheck = (method: string): boolean => methods.get(method)?.addresses !== 'none'
