import { isReadMethod } from '@keyrail/core/internal'
import type { PinRule } from './pinRules.ts'
import { pinRules } from './pinRules.ts'
import { debugMethods, nodeMethods, traceMethods } from '../../auth/allowList/methodNames.ts'

/** How a method that is offered may be treated. */
export interface MethodTraits {
  /** Asking twice does what asking once does: it may be asked again elsewhere, and dropped when its caller has gone. */
  readonly idempotent: boolean
  /** May keep a node at work for seconds: never asked in one batch with others, who would wait for it. */
  readonly heavy: boolean
  /** Makes a filter in a node, asks for what passed one, or ends one. */
  readonly filter?: 'make' | 'use' | 'end'
  /** Where its params say which state of the chain its answer is of. */
  readonly pin?: PinRule | undefined
  /** What a log may call it: its name, or a group's name where names are not bounded. */
  readonly label: string
}

/** Says whether a method is offered, and how it may be treated. */
export type MethodPolicy = (method: string) => MethodTraits | undefined

const filters: ReadonlyMap<string, NonNullable<MethodTraits['filter']>> = new Map([
  ['eth_newFilter', 'make'],
  ['eth_newBlockFilter', 'make'],
  ['eth_newPendingTransactionFilter', 'make'],
  ['eth_getFilterChanges', 'use'],
  ['eth_getFilterLogs', 'use'],
  ['eth_uninstallFilter', 'end'],
])

const heavy = /^(?:debug|trace)_|^eth_(?:getLogs|getFilterLogs|simulateV1|getProof|createAccessList)$/

const nodeOwn = /^(?:anvil|evm|hardhat)_[A-Za-z0-9_]{1,64}$/
const nodeOwnTraits: MethodTraits = Object.freeze({ idempotent: false, heavy: false, label: 'node-own' })

const traitsOf = (name: string): MethodTraits => {
  const filter = filters.get(name)
  return Object.freeze({
    idempotent: isReadMethod(name),
    heavy: heavy.test(name),
    label: name,
    pin: pinRules.get(name),
    ...(filter === undefined ? {} : { filter }),
  })
}

/**
 * Makes the rule of which methods are offered. It is a list of names, not of prefixes: what signs (`eth_accounts`, `eth_sign…`,
 * `eth_sendTransaction`, `personal_`), administers (`admin_`, `engine_`, `miner_`, `txpool_`, `testing_`), needs a socket
 * (`eth_subscribe`) or is not known here does not exist for a caller.
 */
export const createMethodPolicy = (options: {
  debug: boolean
  trace: boolean
  unsafeNodeMethods: boolean
}): MethodPolicy => {
  const offered = new Map<string, MethodTraits>()
  const offer = (names: readonly string[]): void => {
    for (const name of names) offered.set(name, traitsOf(name))
  }
  offer(nodeMethods)
  if (options.debug) offer(debugMethods)
  if (options.trace) offer(traceMethods)
  // Most batches are many calls of one method.
  let last: MethodTraits | undefined
  return (method) => {
    if (method === last?.label) return last
    const traits = offered.get(method)
    if (traits === undefined) return options.unsafeNodeMethods && nodeOwn.test(method) ? nodeOwnTraits : undefined
    last = traits
    return traits
  }
}
