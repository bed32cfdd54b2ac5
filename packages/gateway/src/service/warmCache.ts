import type { Network } from '../lib/network.ts'
import { toHex } from '../lib/rpc/quantity.ts'
import { createPermits } from '../usage/limits/createPermits.ts'
import { createGroupFactory } from '../proxy/createGroupFactory.ts'
import { createMethodPolicy } from '../proxy/method/createMethodPolicy.ts'
import type { CallResult } from '../proxy/upstream/callResult.ts'
import type { UpstreamGroup } from '../proxy/upstream/createUpstreamGroup.ts'
import { runCalls } from '../proxy/upstream/runCalls.ts'
import type { ChainStore } from '../storage/chainStore/chainStore.ts'
import { resolveNetworkLimits } from './networkLimits.ts'
import type { ServiceConfig } from './serviceConfig.ts'
import { toGatewayConfig } from './toGatewayConfig.ts'

/** Which logs are read into the chain store. */
export interface WarmOptions {
  /** The name of the network in the config. */
  readonly network: Network
  /** The contracts. At least one. */
  readonly addresses: readonly string[]
  /** The topics of the logs, as in a filter of `eth_getLogs`. @default any */
  readonly topics?: readonly (readonly string[] | null)[] | undefined
  /** The first block. */
  readonly from: number
  /** The last block. @default the newest one that can be stored, which is also the most */
  readonly to?: number | undefined
  /** Stops it after the calls in flight. @default never */
  readonly signal?: AbortSignal | undefined
}

/** How far the logs were read. */
export interface WarmedLogs {
  /** The first block that was not read; above `to` if all were. */
  readonly next: number
  /** The last block that was to be read. */
  readonly to: number
  /** Why it ended early; `undefined` if it did not. */
  readonly failure: string | undefined
}

/** Calls of this many blocks. If a node accepts fewer, they are split. */
const windowBlocks = 10_000
const concurrency = 4
/** How long to wait for a node to say which chain it has, and which block is final. */
const readyMs = 30_000
const pauseMs = 1_000
/** How often a call is tried that no node had room for. */
const maxTries = 60

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until results can be stored. @returns The newest block of which they can; -1 if no node has said. */
const getLastBlock = async ({ store }: UpstreamGroup): Promise<number> => {
  const endsAt = performance.now() + readyMs
  for (;;) {
    const lasts = store?.getLastBlocks() ?? []
    const isLate = performance.now() > endsAt
    // Otherwise, the first results of a node would not be stored.
    if (isLate || (lasts.length > 0 && !lasts.includes(-1))) return Math.max(-1, ...lasts)
    await wait(100)
  }
}

/** Why a result is not what was asked for: with a smaller range, it may be, or later. */
const toFailure = (result: CallResult): { what: string; when: 'smaller' | 'later' | 'never' } | undefined => {
  if ('stream' in result || ('member' in result && result.member === 'result')) return undefined
  if ('value' in result) return { what: result.value.toString().slice(0, 500), when: 'smaller' }
  const isTooMuch = result.reason === 'response_too_large' || result.reason === 'upstream_timeout'
  const isBusy = result.reason === 'upstream_busy' || result.reason === 'no_upstream'
  return { what: result.message, when: isTooMuch ? 'smaller' : isBusy ? 'later' : 'never' }
}

/**
 * Reads logs through the nodes of a config, as calls do, so that they are stored. Logs that are stored already are not read again.
 * @param config - The config of the service, whose upstreams are used within their budgets.
 */
export const warmCache = async (
  config: ServiceConfig,
  chainStore: ChainStore,
  { network, addresses, topics = [], from, to: given = Infinity, signal }: WarmOptions,
): Promise<WarmedLogs> => {
  const gateway = toGatewayConfig(config, resolveNetworkLimits(config), { tls: undefined, tracer: undefined })
  const only = new Map([...gateway.networks].filter(([name]) => name === network))
  const permits = createPermits()
  const group = createGroupFactory({ chainStore, permits }, () => {})({ ...gateway, networks: only }).get(network)
  const traits = createMethodPolicy({ ...gateway.services, weights: {} })('eth_getLogs')
  const { upstreamTimeoutMs: timeoutMs, maxResponseBytes } = only.get(network)?.bounds ?? gateway.bounds
  if (group === undefined || traits === undefined) throw new TypeError(`The config has no network ${network}.`)

  const readLogs = (first: number, last: number): Promise<CallResult> => {
    const filter = { address: addresses, topics, fromBlock: toHex(first), toBlock: toHex(last) }
    const call = { method: 'eth_getLogs', params: JSON.stringify([filter]), traits }
    const owner = { keyId: 'cache warm', ownerId: 'cache warm' }
    const scope = { group, ...owner, timeoutMs, maxResponseBytes, budget: { left: maxResponseBytes }, streams: false }
    return new Promise((resolve) => {
      const done = ([result]: readonly CallResult[]): void => resolve(result as CallResult)
      runCalls([call], scope, { done, unsent: () => {} })
    })
  }
  /** @returns What failed. */
  const readRange = async (first: number, last: number, tries = 0): Promise<string | undefined> => {
    const failure = toFailure(await readLogs(first, last))
    if (failure?.when === 'smaller' && first < last) {
      const middle = Math.floor((first + last) / 2)
      return (await readRange(first, middle)) ?? (await readRange(middle + 1, last))
    }
    if (failure?.when !== 'later' || tries >= maxTries || signal?.aborted === true) return failure?.what
    await wait(pauseMs)
    return readRange(first, last, tries + 1)
  }

  try {
    await group.start()
    const newest = await getLastBlock(group)
    const to = Math.min(given, newest)
    if (newest < 0)
      return { next: from, to: from, failure: 'no node has said which chain it has, and which block is final' }
    let failure: string | undefined
    /** The first blocks of the ranges in flight. */
    const inFlight = new Set<number>()
    let next = from
    const work = async (): Promise<void> => {
      while (next <= to && failure === undefined && signal?.aborted !== true) {
        const first = next
        const last = Math.min(to, first + windowBlocks - 1)
        next = last + 1
        inFlight.add(first)
        const failed = await readRange(first, last)
        failure ??= failed
        if (failed !== undefined) return
        inFlight.delete(first)
        // Waits for the writer, which would otherwise drop what it has no room for.
        await chainStore.call('getCheckpoint', '')
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    return { next: Math.min(next, ...inFlight), to, failure }
  } finally {
    await group.close()
    await permits.close()
  }
}
