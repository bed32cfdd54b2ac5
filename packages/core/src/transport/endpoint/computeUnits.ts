import { toMethodMap, toNamespace } from '../../schema/methodGroups.ts'
import { unitMethods } from '../../schema/methodSlice.ts'

const units = /* @__PURE__ */ toMethodMap(unitMethods)

/**
 * Returns the cost of a method at an endpoint that counts compute units rather than requests.
 *
 * Providers publish different tables, but agree on the order: results from memory are nearly free, then come a lookup of state, running a contract,
 * a scan of several blocks, and re-executing blocks. The table of methods has one number for each, on the scale that most providers use (a plain
 * read is 20). Pass the numbers of your provider as `computeUnits` where they matter.
 *
 * @param method - A JSON-RPC method.
 * @returns Compute units of one call.
 * @example
 * computeUnits('eth_getBalance') // 20
 */
export const computeUnits = (method: string): number =>
  Number(units.get(method) ?? units.get(toNamespace(method)) ?? 20)
