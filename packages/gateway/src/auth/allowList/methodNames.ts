import { methodNames } from '@keyrail/core'

/**
 * Methods of the schema that are never offered: those that use the node's own accounts (`eth_sign…`, `eth_sendTransaction`, the node's pending
 * transactions), and mining methods.
 */
const neverOffered = /^eth_(?:sign|sendTransaction$|pendingTransactions|getWork|submit)/

const filterMethods = (pattern: RegExp): readonly string[] =>
  methodNames.filter((name) => pattern.test(name) && !neverOffered.test(name))

/** Methods offered to every key. */
export const nodeMethods: readonly string[] = filterMethods(/^(?:eth|net|web3)_/)

/** Methods offered if the operator enables `services.debug`. */
export const debugMethods: readonly string[] = filterMethods(/^debug_/)

/** Methods offered if the operator enables `services.trace`. */
export const traceMethods: readonly string[] = filterMethods(/^trace_/)

/** Methods offered if the operator enables `services.txpool`. */
export const txpoolMethods: readonly string[] = filterMethods(/^txpool_/)

/** Methods over a WebSocket. They are not in the schema, because they need one. */
export const subscriptionMethods: readonly string[] = ['eth_subscribe', 'eth_unsubscribe']
