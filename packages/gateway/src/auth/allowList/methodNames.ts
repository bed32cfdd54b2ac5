import { methodNames } from '@keyrail/core'

/**
 * Never offered, though the schema knows them: what uses the node's own accounts (`eth_accounts`, `eth_sign…`,
 * `eth_sendTransaction`, the node's pending transactions) or belongs to a miner.
 */
const nodesOwn = /^eth_(?:accounts|sign|sendTransaction$|pendingTransactions|getWork|submit)/

const ofGroup = (group: RegExp): readonly string[] =>
  methodNames.filter((name) => group.test(name) && !nodesOwn.test(name))

/** What a node may be asked by anyone with a key. */
export const nodeMethods: readonly string[] = ofGroup(/^(?:eth|net|web3)_/)

/** Offered where the operator has turned `services.debug` on. */
export const debugMethods: readonly string[] = ofGroup(/^debug_/)

/** Offered where the operator has turned `services.trace` on. */
export const traceMethods: readonly string[] = ofGroup(/^trace_/)
