import { hasFlag } from '../schema/methodFlags.ts'

/**
 * Checks whether a method may be sent again when it is not known whether the first request arrived. Only known reads may: those of the table of
 * methods, `methods.json`. Every other method may change something, so it is never sent twice, even if its name suggests a read.
 *
 * A read changes nothing at the node. `eth_getFilterChanges` is not one, because it uses up what it returns; `eth_getFilterLogs` is.
 *
 * @param method - A JSON-RPC method, compared exactly.
 * @example
 * isReadMethod('eth_getBalance') // true
 * isReadMethod('eth_sendRawTransaction') // false
 * isReadMethod('foo_getThing') // false: not in the table
 */
export const isReadMethod = (method: string): boolean => hasFlag(method, 'r')
