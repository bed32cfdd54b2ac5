import { isReadMethod } from '@keyrail/core/internal'
import type { PinRule } from './pinRules.ts'
import { pinRules } from './pinRules.ts'
import type { MethodWeights } from './weights.ts'
import {
  debugMethods,
  nodeMethods,
  subscriptionMethods,
  traceMethods,
  txpoolMethods,
} from '../../auth/allowList/methodNames.ts'

/** How calls of an allowed method are handled. */
export interface MethodTraits {
  /** Sending it twice has the same effect as once: it may be retried on another node, and stopped when its caller leaves. */
  readonly idempotent: boolean
  /** It can take a node seconds, so it is never batched with other calls, which would have to wait for it. */
  readonly expensive: boolean
  /** It creates a filter on a node, reads its matches, or removes it. */
  readonly filter?: 'create' | 'use' | 'remove'
  /** It starts or ends a subscription: only over a WebSocket. */
  readonly subscribes?: true
  /** The source text of its result, if the gateway responds without calling a node. */
  readonly result?: string
  /** The param that pins the response to a chain state. */
  readonly pin?: PinRule | undefined
  /** How many requests a call counts as in rates and quotas. */
  readonly weight: number
  /** Its name in logs and metrics, or the name of a group whose names are unbounded. */
  readonly label: string
}

/** Gets how calls of a method are handled; `undefined` if it is not allowed. */
export type MethodPolicy = (method: string) => MethodTraits | undefined

const filters: ReadonlyMap<string, NonNullable<MethodTraits['filter']>> = new Map([
  ['eth_newFilter', 'create'],
  ['eth_newBlockFilter', 'create'],
  ['eth_newPendingTransactionFilter', 'create'],
  ['eth_getFilterChanges', 'use'],
  ['eth_getFilterLogs', 'use'],
  ['eth_uninstallFilter', 'remove'],
])

/** No caller may use the accounts of a node, and many clients ask which there are when they start. */
const ownResults: ReadonlyMap<string, string> = new Map([['eth_accounts', '[]']])

const expensive =
  /^(?:debug|trace)_|^eth_(?:getLogs|getFilterLogs|simulateV1|getProof|createAccessList)$|^txpool_(?:content|inspect)$/

/** Whether a call of this method can take a node seconds. */
export const isExpensive = (method: string): boolean => expensive.test(method)

/** Which own methods of development nodes are offered: those that only read how the node mines, or all, which rewrite the chain. */
export type DevelopmentMethods = 'reads' | 'all'

/** Hardhat Ignition asks for it: without a response, it waits for confirmations that a chain without traffic never gets. */
const developmentReads: readonly string[] = ['hardhat_getAutomine']
const devMethod = /^(?:anvil|evm|hardhat)_[A-Za-z0-9_]{1,64}$/
const devTraits: MethodTraits = Object.freeze({ idempotent: false, expensive: false, weight: 1, label: 'node-own' })

const getTraits = (name: string, weight: number): MethodTraits => {
  const filter = filters.get(name)
  const result = ownResults.get(name)
  return Object.freeze({
    idempotent: isReadMethod(name) || developmentReads.includes(name),
    expensive: isExpensive(name),
    weight,
    label: name,
    pin: pinRules.get(name),
    ...(filter === undefined ? {} : { filter }),
    ...(result === undefined ? {} : { result }),
  })
}

/**
 * Creates the policy of which methods callers may use. It is a list of names, not of prefixes: methods that sign (`eth_sign…`,
 * `eth_sendTransaction`, `personal_`), administer a node (`admin_`, `engine_`, `miner_`, `testing_`) or are unknown do not exist for callers.
 */
export const createMethodPolicy = (options: {
  debug: boolean
  trace: boolean
  txpool: boolean
  /** @default none */
  developmentMethods?: DevelopmentMethods | undefined
  /** @default {} */
  weights?: MethodWeights
}): MethodPolicy => {
  const allowed = new Map<string, MethodTraits>()
  const weights = new Map(Object.entries(options.weights ?? {}))
  const allow = (names: readonly string[]): void => {
    for (const name of names) allowed.set(name, getTraits(name, weights.get(name) ?? 1))
  }
  allow(nodeMethods)
  if (options.debug) allow(debugMethods)
  if (options.trace) allow(traceMethods)
  if (options.txpool) allow(txpoolMethods)
  if (options.developmentMethods !== undefined) allow(developmentReads)
  for (const name of subscriptionMethods)
    allowed.set(
      name,
      Object.freeze({ ...getTraits(name, weights.get(name) ?? 1), idempotent: false, subscribes: true } as const),
    )
  // Most batches are many calls of one method.
  let last: MethodTraits | undefined
  return (method) => {
    if (method === last?.label) return last
    const traits = allowed.get(method)
    if (traits === undefined)
      return options.developmentMethods === 'all' && devMethod.test(method) ? devTraits : undefined
    last = traits
    return traits
  }
}
