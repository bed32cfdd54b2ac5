import readMethods from './readMethods.json' with { type: 'json' }

const reads: ReadonlySet<string> = /* @__PURE__ */ new Set(readMethods)

/**
 * Checks whether a method may be sent again when it is not known whether the first request arrived. Only known reads may: those in
 * `readMethods.json`, which Python uses too. Every other method may change something, so it is never sent twice, even if its name suggests a read.
 *
 * A read changes nothing at the node. `eth_getFilterChanges` is not one, because it uses up what it returns; `eth_getFilterLogs` is.
 *
 * @param method - A JSON-RPC method, compared exactly.
 * @example
 * isReadMethod('eth_getBalance') // true
 * isReadMethod('eth_sendRawTransaction') // false
 * isReadMethod('foo_getThing') // false: not in the list
 */
export function isReadMethod(method: string): boolean {
  return reads.has(method)
}
