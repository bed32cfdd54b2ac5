import { setTimeout as sleep } from 'node:timers/promises'
import { createTransport, webSocket } from '@keyrail/core'
import type { Hex, Transport } from '@keyrail/core'
import { seededRandom } from '@keyrail/core/test/faults/seededRandom.ts'
import { getApiKeyUrl } from '@keyrail/gateway'
import type { TestGateway } from '@keyrail/gateway/test/internal.ts'
import { contracts, createChaosChain, isMatch } from './chaosChain.ts'
import type { ChaosBlock, ChaosChain, ChaosFilter } from './chaosChain.ts'
import { startChaosNode } from './chaosNode.ts'
import type { ChaosNode } from './chaosNode.ts'
import { startBalancer } from './startBalancer.ts'
import { createKeys, startInstance } from './startInstance.ts'
import { startSubscriber, toLogPlace } from './subscriber.ts'
import type { Subscriber, Wanted } from './subscriber.ts'

/** Options of {@link runChaos}. */
export interface ChaosOptions {
  /** How many steps the chain takes: in each it gets a block, or is reorganized. */
  readonly blocks: number
  readonly reorgs: number
  readonly seed: number
  /** Whether the nodes have WebSockets. Without, the service polls them. */
  readonly withNodeSockets: boolean
  /** Starts the chain and its nodes. @default scripted nodes in this process */
  readonly open?: (random: () => number) => Promise<ChaosNetwork>
  readonly onProgress?: (text: string) => void
}

/** A chain and the two nodes that follow it. */
export interface ChaosNetwork {
  readonly chain: ChaosChain
  readonly nodes: readonly ChaosNode[]
  readonly close: () => Promise<void>
}

/** What happened, and what was wrong. */
export interface ChaosResult {
  /** Empty if every subscriber has exactly the blocks or logs of the chain. */
  readonly problems: readonly string[]
  readonly figures: Readonly<Record<string, number>>
}

const subscribers = 50
/** How many more poll, because their transport has no WebSocket. */
const pollers = 10
const stepMs = 120
const maxReorgDepth = 6
/** How often a node is killed, and how long it is down, in blocks. */
const killEvery = 20
const killedFor = 8
/** How often an instance is restarted, and how long it is down, in blocks. */
const restartEvery = 25
const restartedFor = 5
const maxLag = 3
/** How many blocks most subscribers may be behind before the chain advances, and how long it waits for them at most. */
const maxBehind = maxLag + 2
const maxWaitMs = 5_000
/** How long the subscribers may take in the end. */
const maxCatchUpMs = 90_000

/** Every second one gets blocks. The others get the logs of contracts that emit many or few, by address or by topic. */
const toWanted = (index: number): Wanted => {
  if (index % 2 === 0) return { blocks: true }
  const kind = Math.floor(index / 2)
  const address = [contracts[kind % contracts.length] as Hex]
  const topics = [`0x${(kind % 4).toString(16).padStart(64, '0')}` as const]
  return { logs: [{}, { address }, { topics }, { address, topics }][kind % 4] ?? {} }
}

const getExpected = (wanted: Wanted, chain: readonly ChaosBlock[]): readonly string[] =>
  'blocks' in wanted
    ? chain.map(({ hash }) => hash)
    : chain.flatMap(({ hash, logs }) =>
        logs.flatMap((log, index) => (isMatch(log, wanted.logs as ChaosFilter) ? [toLogPlace(hash, index)] : [])),
      )

/** Finds the first difference of a subscriber's results. @returns `undefined` if there is none. */
const findDifference = ({ applied, wanted }: Subscriber, chain: readonly ChaosBlock[]): string | undefined => {
  const expected = getExpected(wanted, chain)
  const places = applied.map(({ place }) => place)
  const at = expected.findIndex((place, index) => places[index] !== place)
  if (at === -1 && places.length === expected.length) return undefined
  const index = at === -1 ? expected.length : at
  return `${JSON.stringify(wanted)} has ${places.length} of ${expected.length}; at ${index} ${places[index]} in place of ${expected[index]}`
}

const openScripted = async (random: () => number): Promise<ChaosNetwork> => {
  const chain = createChaosChain(random)
  const nodes = await Promise.all([0, 1].map(() => startChaosNode(chain.blocks())))
  return {
    chain,
    nodes,
    close: async () => {
      for (const node of nodes) await node.stop()
    },
  }
}

const getQuantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0

/**
 * Runs two nodes, two instances of the gateway, 50 subscribers with WebSocket and 10 that poll, while the chain is reorganized, nodes are killed, connections are cut, and instances
 * and subscribers are restarted. In the end each subscriber must have exactly the chain's blocks or logs. What happens when follows from the seed;
 * how far each part has come by then does not.
 */
export const runChaos = async (options: ChaosOptions): Promise<ChaosResult> => {
  const { blocks: steps, reorgs, seed, withNodeSockets, open = openScripted, onProgress = () => {} } = options
  const random = seededRandom(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  const figures = { steps, reorgs: 0, restoredBranches: 0, killedNodes: 0, cutConnections: 0, restartedInstances: 0 }
  const problems: string[] = []
  const cleanups: (() => unknown)[] = []

  const { chain, nodes, close } = await open(random)
  cleanups.push(close)
  /** The chain after each step: a node that lags has an earlier one. */
  const history = [chain.blocks()]
  const seen = nodes.map(() => 0)
  const lags = nodes.map(() => 0)
  const showChain = (atMost: number): void => {
    for (const [index, node] of nodes.entries()) {
      if (node.isKilled()) continue
      if (random() < 0.1) lags[index] = below(maxLag + 1)
      const at = Math.max(seen[index] ?? 0, history.length - 1 - Math.min(lags[index] ?? 0, atMost))
      seen[index] = at
      node.see(history[at] ?? [])
    }
  }

  const { keys, key } = createKeys()
  const upstreams = nodes.map(({ port }, index) => ({
    url: `http://127.0.0.1:${port}`,
    name: `node-${index}`,
    ...(withNodeSockets ? { wsUrl: `ws://127.0.0.1:${port}` } : {}),
  }))
  const start = (port?: number): ReturnType<typeof startInstance> =>
    startInstance({ keys, upstreams, ...(port === undefined ? {} : { port }) })
  const instances: ({ readonly gateway: TestGateway; readonly port: number } | undefined)[] = await Promise.all([
    start(),
    start(),
  ])
  const ports = instances.map((instance) => instance?.port ?? 0)
  const balancer = await startBalancer(seededRandom(seed + 1))
  const usePorts = (): void => {
    balancer.ports = ports.filter((_, index) => instances[index] !== undefined)
  }
  usePorts()
  cleanups.push(balancer.close, async () => {
    for (const instance of instances) await instance?.gateway.close({ graceMs: 0 })
  })

  const transports: Transport[] = []
  const programs = Array.from({ length: subscribers + pollers }, (_, index): Subscriber => {
    const url = getApiKeyUrl(balancer.url, 'testnet', key)
    const transport = createTransport({ url, ...(index < subscribers ? { webSocket: webSocket() } : {}) })
    transports.push(transport)
    return startSubscriber(transport, toWanted(index), { fromBlock: 0 })
  })
  cleanups.push(async () => {
    await Promise.all(programs.map(({ stop }) => stop()))
    for (const transport of transports) transport.close()
  })

  /** Ends an instance, with or without a drain, in the background. @returns Brings it back. */
  const stopInstance = (index: number): (() => Promise<void>) => {
    const gateway = instances[index]?.gateway
    instances[index] = undefined
    usePorts()
    figures.restartedInstances += 1
    const closed = gateway?.close({ graceMs: random() < 0.5 ? 0 : (restartedFor * stepMs) / 2 })
    return async () => {
      await closed
      instances[index] = await start(ports[index])
      usePorts()
    }
  }
  const reorgEvery = Math.floor(steps / reorgs)
  const changeChain = async (step: number): Promise<void> => {
    if (step % reorgEvery === 0 && figures.reorgs < reorgs) {
      const depth = 1 + below(maxReorgDepth)
      await chain.reorg(depth, Math.max(1, depth - 1 + below(3)))
      figures.reorgs += 1
    } else if (step % reorgEvery === 1 && random() < 0.2) {
      await chain.restore()
      figures.restoredBranches += 1
    } else await chain.mine(1)
  }

  /** How many blocks the subscribers to blocks are behind the chain. */
  const getBehind = (): number[] => {
    const head = chain.blocks().length - 1
    return programs.flatMap(({ wanted, applied }) =>
      'blocks' in wanted ? [Math.max(0, head - (applied.at(-1)?.number ?? -1))] : [],
    )
  }
  const behind: number[] = []
  /** Waits for most subscribers: those that are far behind see no reorganization. On a busy machine, the chain is slower. */
  const waitForMost = async (): Promise<void> => {
    const until = performance.now() + maxWaitMs
    while (getQuantile(getBehind(), 0.7) > maxBehind && performance.now() < until) await sleep(20)
  }

  let bringBack: (() => Promise<void>) | undefined
  const background: Promise<void>[] = []
  try {
    for (let step = 1; step <= steps; step += 1) {
      await changeChain(step)
      history.push(chain.blocks())
      const killed = nodes[Math.floor(step / killEvery) % 2]
      if (step % killEvery === 0) {
        killed?.kill()
        figures.killedNodes += 1
      } else if (step % killEvery === killedFor) for (const node of nodes) node.revive()
      showChain(maxLag)
      if (step % restartEvery === restartEvery - 1) bringBack = stopInstance(Math.floor(step / restartEvery) % 2)
      else if (step % restartEvery === restartedFor - 1 && bringBack !== undefined) background.push(bringBack())
      if (random() < 0.2) figures.cutConnections += balancer.cut(0.1)
      if (random() < 0.2) background.push(programs[below(programs.length)]?.restart() ?? Promise.resolve())
      if (step % 10 === 0) behind.push(...getBehind())
      if (step % 100 === 0) onProgress(`${step} of ${steps} steps`)
      await sleep(stepMs * (0.5 + random()))
      await waitForMost()
    }
    for (const node of nodes) node.revive()
    await Promise.all(background)
    for (const index of instances.keys()) instances[index] ??= await start(ports[index])
    usePorts()
    // All nodes get the whole chain, and a last block.
    await chain.mine(1)
    history.push(chain.blocks())
    showChain(0)

    const startedAt = performance.now()
    const findProblems = (): string[] =>
      programs.flatMap((program, index) =>
        [...program.problems, findDifference(program, chain.blocks())].flatMap((problem) =>
          problem === undefined ? [] : [`subscriber ${index}: ${problem}`],
        ),
      )
    const countOpen = (): number =>
      instances
        .flatMap((instance) => Object.values(instance?.gateway.webSockets().subscriptions.get('testnet') ?? {}))
        .reduce((sum, count) => sum + count, 0)
    while ((findProblems().length > 0 || countOpen() < subscribers) && performance.now() - startedAt < maxCatchUpMs)
      await sleep(200)
    const caughtUpMs = Math.round(performance.now() - startedAt)
    // What comes late must not come twice.
    await sleep(1_000)
    problems.push(...findProblems())
    if (countOpen() !== subscribers) problems.push(`${countOpen()} of ${subscribers} subscriptions have a WebSocket`)
    const sum = (name: keyof Subscriber['counts']): number =>
      programs.reduce((total, { counts }) => total + counts[name], 0)
    return {
      problems,
      figures: {
        ...figures,
        chain: chain.blocks().length,
        subscribers: programs.length,
        subscriptions: sum('starts'),
        events: sum('events'),
        reportedReorgs: sum('reorgs'),
        failures: sum('failures'),
        blocksBehindMedian: getQuantile(behind, 0.5),
        blocksBehindP95: getQuantile(behind, 0.95),
        caughtUpMs,
      },
    }
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
}
