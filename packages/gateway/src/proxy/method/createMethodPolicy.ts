import { isReadMethod } from '@keyrail/core/internal'
import type { MethodPreset } from '@keyrail/core/internal'
import { methods, toOwnRow } from '../../lib/methods.ts'
import type { OfferedMethod } from '../../lib/methods.ts'
import type { ConfirmRule } from './confirmRule.ts'
import type { MethodWeights } from './weights.ts'

/** The param of a method that pins the response to a chain state, and its kind. */
export interface PinRule {
  /** A block hash, a block by number or hash, a log filter, or a transaction hash. */
  readonly by: 'hash' | 'block' | 'logs' | 'transaction'
  /** The index of the param. */
  readonly at: number
  /** Whether the response is a trace, which depends on the node's client and its version. @default false */
  readonly isTrace?: boolean
}

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
  /** It only keeps a connection open: it is neither limited nor counted. */
  readonly keepsAlive?: true
  /** The source text of its result, if the gateway responds without calling a node. */
  readonly result?: string
  /** The param that pins the response to a chain state. */
  readonly pin?: PinRule | undefined
  /** How many requests a call counts as in rates and quotas. */
  readonly weight: number
  /** Its name in logs and metrics, or the name of a group whose names are unbounded. */
  readonly label: string
  /** It sends a private transaction, or a signed one, which is private if the app says so. */
  readonly transaction?: 'private' | 'raw'
  /** How many nodes must agree on its result; `undefined`: one node is believed. */
  readonly confirm?: ConfirmRule
  /** Its row in the table of methods, so that no step looks it up again; `undefined` for methods of development nodes and for the gateway's own calls. */
  readonly row?: OfferedMethod
}

/** A method that the config adds to a network, or narrows. */
export interface OwnMethod {
  readonly read: boolean
  /** What each param is. @default rejected for apps with an address list */
  readonly addresses?: OfferedMethod['addresses'] | undefined
  /** The names of the only nodes that get it. @default all */
  readonly upstreams?: readonly string[] | undefined
}

/** Gets how calls of a method are handled; `undefined` if it is not allowed. */
export type MethodPolicy = (method: string) => MethodTraits | undefined

/** No caller may use the accounts of a node, and many clients request the list when they start. */
const ownResults: ReadonlyMap<string, string> = new Map([['eth_accounts', '[]']])

/** Whether a call of this method can take a node seconds. */
export const isExpensive = (method: string): boolean => methods.get(method)?.expensive === true

/** Which own methods of development nodes are offered: those that only read how the node mines, or all, which rewrite the chain. */
export type DevelopmentMethods = 'reads' | 'all'

const devMethod = /^(?:anvil|evm|hardhat)_[A-Za-z0-9_]{1,64}$/
/** Whether a method is one of a development node's own, whose names are unbounded. */
export const isDevelopmentMethod = (method: string): boolean => devMethod.test(method)
const devTraits: MethodTraits = Object.freeze({ idempotent: false, expensive: false, weight: 1, label: 'node-own' })

const traceMethod = /^(?:debug_trace|trace_)/

/** The param that pins a response, if the service caches it. @param traces - Whether it caches those of traces. */
const getPin = (name: string, row: OfferedMethod, traces: boolean): PinRule | undefined => {
  const { cached, blockHash, block, range, transaction } = row
  const isTrace = traces && row.replays === true && range === undefined && traceMethod.test(name)
  if (!isTrace && cached?.includes('service') !== true) return undefined
  const of = isTrace ? { isTrace } : {}
  if (blockHash !== undefined) return { by: 'hash', at: blockHash, ...of }
  if (block !== undefined) return { by: 'block', at: block, ...of }
  if (range !== undefined) return { by: 'logs', at: range }
  return transaction === undefined ? undefined : { by: 'transaction', at: transaction, ...of }
}

/** The methods that send a signed transaction, under the names of all chains. Those of private transactions have other names. */
const rawTransaction = /_sendRawTransaction/

const getTransaction = (name: string, { presets, addresses }: OfferedMethod): MethodTraits['transaction'] => {
  if (presets?.includes('private-transactions') === true) return 'private'
  const isRaw = rawTransaction.test(name) || (typeof addresses === 'object' && addresses.includes('rawTransaction'))
  return isRaw ? 'raw' : undefined
}

const getTraits = (
  name: string,
  row: OfferedMethod,
  {
    weight,
    traces,
    transaction = getTransaction(name, row),
  }: {
    readonly weight: number
    readonly traces: boolean
    readonly transaction?: MethodTraits['transaction']
  },
): MethodTraits => {
  const { access, expensive = false, filter, subscription } = row
  const result = ownResults.get(name)
  return Object.freeze({
    idempotent: access === 'read',
    expensive,
    weight,
    label: name,
    row,
    pin: getPin(name, row, traces),
    ...(filter === undefined ? {} : { filter }),
    ...(subscription === undefined ? {} : { subscribes: subscription }),
    ...(result === undefined ? {} : { result }),
    ...(transaction === undefined ? {} : { transaction }),
  })
}

/**
 * Creates the policy of which methods callers may use. It is a list of names, not of prefixes: methods that sign (`eth_sign…`,
 * `eth_sendTransaction`, `personal_`), administer a node (`admin_`, `engine_`, `miner_`, `testing_`) or are unknown do not exist for callers. A network
 * can add the methods of presets, and others by name.
 */
export const createMethodPolicy = (options: {
  debug: boolean
  trace: boolean
  txpool: boolean
  /** @default none */
  developmentMethods?: DevelopmentMethods | undefined
  /** @default {} */
  weights?: MethodWeights
  /** @default [] */
  presets?: readonly MethodPreset[] | undefined
  /** The methods that the config adds. @default {} */
  own?: Readonly<Record<string, OwnMethod>> | undefined
  /** The names of the nodes for private transactions. @default [] */
  privateNodes?: readonly string[] | undefined
  /** The reads that are confirmed. @default [] */
  confirm?: readonly (ConfirmRule & { readonly methods: readonly string[] })[] | undefined
  /** Whether traces are cached. @default false */
  traces?: boolean | undefined
}): MethodPolicy => {
  const { weights = {}, presets: on = [], own = {}, privateNodes = [], confirm = [], traces = false } = options
  // Hardhat Ignition requests how a development node mines: without a response, it waits for confirmations that a chain without traffic never gets.
  const services = { ...options, always: true, development: options.developmentMethods !== undefined }
  const allowed = new Map(
    [...methods]
      .filter(
        ([, { service, presets }]) =>
          (service === undefined || services[service]) && (presets?.some((preset) => on.includes(preset)) ?? true),
      )
      .map(([name, row]) => [name, getTraits(name, row, { weight: weights[name] ?? 1, traces })]),
  )
  for (const [name, { read, addresses = 'rejected', upstreams }] of Object.entries(own)) {
    const known = methods.get(name)
    // Whether these are offered is decided by `services`.
    if (known?.service !== undefined) continue
    const row = known ?? toOwnRow({ access: read || isReadMethod(name) ? 'read' : 'write', addresses })
    // Only nodes for private transactions get it.
    const isPrivate = upstreams?.every((node) => privateNodes.includes(node)) === true
    const transaction = isPrivate ? { transaction: 'private' as const } : {}
    allowed.set(name, getTraits(name, row, { weight: weights[name] ?? 1, traces, ...transaction }))
  }
  for (const { methods: names, ...rule } of confirm)
    for (const name of names) {
      const traits = allowed.get(name)
      if (traits !== undefined) allowed.set(name, Object.freeze({ ...traits, confirm: rule }))
    }
  // Most batches are many calls of one method.
  let last: MethodTraits | undefined
  return (method) => {
    if (method === last?.label) return last
    const traits = allowed.get(method)
    if (traits === undefined)
      return options.developmentMethods === 'all' && isDevelopmentMethod(method) ? devTraits : undefined
    last = traits
    return traits
  }
}
