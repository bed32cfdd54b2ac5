import { onTestFinished } from 'vitest'
import type { LogEntry } from '../../src/proxy/log.ts'
import { createNodeSource } from '../../src/proxy/subscription/node/createNodeSource.ts'
import type { NodeSourceTimes } from '../../src/proxy/subscription/node/createNodeSource.ts'
import type { NodeSource } from '../../src/proxy/subscription/nodeSource.ts'
import { createBudget } from '../../src/proxy/upstream/health/createBudget.ts'
import { createUpstreamGroup } from '../../src/proxy/upstream/createUpstreamGroup.ts'
import type { UpstreamGroup } from '../../src/proxy/upstream/createUpstreamGroup.ts'
import { toTestConfig } from '../createTestGateway.ts'
import type { TestConfig } from '../createTestGateway.ts'

const times: NodeSourceTimes = {
  timeoutMs: 60_000,
  silenceMs: 5_000,
  firstRetryMs: 20,
  pendingIntervalMs: 30,
  syncingIntervalMs: 30,
}

/** A source, and what it uses. */
export interface StartedSource {
  readonly source: NodeSource
  readonly group: UpstreamGroup
  readonly entries: readonly LogEntry[]
  /** What was logged about WebSockets. */
  readonly states: () => unknown[]
}

/**
 * Starts the source of a network with these nodes, until the test has finished.
 * @param givenTimes - @default short intervals, and limits that a busy machine keeps
 */
export const startNodeSource = async (
  given: TestConfig['networks'][string]['upstreams'],
  givenTimes: Partial<NodeSourceTimes> = {},
): Promise<StartedSource> => {
  const entries: LogEntry[] = []
  const log = (entry: LogEntry): void => void entries.push(entry)
  const { networks } = toTestConfig({ networks: { testnet: { chainId: 31_337, upstreams: given } } })
  const upstreams = networks.get('testnet')?.upstreams ?? []
  const group = createUpstreamGroup({
    network: 'testnet',
    chainId: 31_337,
    upstreams,
    loadBalancing: 'order',
    maxLagBlocks: 8,
    broadcast: 1,
    verifyResults: true,
    splitLogs: true,
    rewritable: false,
    saved: { cache: { total: 0 }, inFlight: { total: 0 } },
    createBudget: (options) => createBudget(options),
    timeoutMs: 60_000,
    maxCacheBytes: 0,
    maxFilters: 1,
    checks: undefined,
    log,
  })
  await group.start()
  const source = createNodeSource({ group, upstreams, log, times: { ...times, ...givenTimes } })
  onTestFinished(async () => {
    source.close()
    await group.close()
  })
  return {
    source,
    group,
    entries,
    states: () => entries.flatMap((entry) => (entry.event === 'nodeSocket' ? [entry.state] : [])),
  }
}
