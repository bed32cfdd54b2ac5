import { hasFlag } from '../../schema/methodFlags.ts'
import { toNamespace } from '../../schema/methodGroups.ts'

/**
 * Checks whether a method can keep a node busy for seconds, by the table of methods: searches of logs, proofs, simulations, the contents of the
 * pool, and all methods of the `debug` and `trace` namespaces. Expensive calls get a longer deadline by default, are not joined into batches and
 * are not hedged.
 *
 * @param method - A JSON-RPC method.
 * @example
 * isExpensiveMethod('trace_block') // true
 */
export const isExpensiveMethod = (method: string): boolean => hasFlag(method, 'x') || hasFlag(toNamespace(method), 'x')
