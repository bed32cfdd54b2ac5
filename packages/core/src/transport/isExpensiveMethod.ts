const expensiveMethods: ReadonlySet<string> = /* @__PURE__ */ new Set(['eth_getLogs', 'eth_simulateV1'])

/**
 * Checks whether a method can keep a node busy for seconds: `eth_getLogs`, `eth_simulateV1`, and all methods of the `debug` and `trace` namespaces.
 * Expensive calls get a longer deadline by default, are not joined into batches and are not hedged.
 *
 * @param method - A JSON-RPC method.
 * @example
 * isExpensiveMethod('trace_block') // true
 */
export function isExpensiveMethod(method: string): boolean {
  return expensiveMethods.has(method) || method.startsWith('debug_') || method.startsWith('trace_')
}
