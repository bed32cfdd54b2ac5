import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { getFreePort } from '../getFreePort.ts'
import { startRedisProcess } from './redisProcess.ts'
import type { RedisProcess } from './redisProcess.ts'

/** A Redis Cluster of 3 masters with a replica each. */
export interface TestRedisCluster {
  /** A `redis+cluster:` URL of all nodes, with the password. */
  readonly url: string
  readonly password: string
  /** The URLs of the nodes, with the password. */
  readonly nodeUrls: readonly string[]
  /** The processes of the nodes, in the order of `nodeUrls`. */
  readonly processes: readonly RedisProcess[]
  /** The master that holds a key now: a process to kill, hang or start. */
  findMaster(key: string): Promise<RedisProcess>
  /** Waits until each master has a replica that is in sync. */
  whenHealthy(): Promise<void>
  close(): Promise<void>
}

const masters = 3
const slots = 16_384

interface Node {
  readonly process: RedisProcess
  readonly busPort: number
  readonly admin: Redis
}

const until = async (check: () => Promise<boolean>): Promise<void> => {
  const endsAt = performance.now() + 20_000
  while (!(await check())) {
    if (performance.now() > endsAt) throw new Error('the Redis Cluster did not become healthy in 20 s')
    await wait(50)
  }
}

const startNode = async (password: string): Promise<Node> => {
  const busPort = await getFreePort()
  const process = await startRedisProcess({
    settings: [
      'cluster-enabled yes',
      'cluster-node-timeout 1000',
      // A shard that is down does not stop the others.
      'cluster-require-full-coverage no',
      'cluster-replica-validity-factor 0',
      `cluster-port ${busPort}`,
      'repl-diskless-sync-delay 0',
      // CLUSTER SLOTS lists a replica once it got a first byte from its master.
      'repl-ping-replica-period 1',
      `requirepass ${password}`,
      `masterauth ${password}`,
    ],
  })
  const admin = new Redis({ port: process.port, host: '127.0.0.1', password, maxRetriesPerRequest: 0 })
  admin.on('error', () => {})
  return { process, busPort, admin }
}

/** Starts a Redis Cluster on free ports of 127.0.0.1, with a random password. Shards stay available while another shard fails over. */
export const startRedisCluster = async (
  password: string = randomBytes(16).toString('hex'),
): Promise<TestRedisCluster> => {
  const nodes: Node[] = []
  // One after another, so that no two of them choose the same port.
  for (let index = 0; index < 2 * masters; index += 1) nodes.push(await startNode(password))
  const run = async (node: Node | undefined, ...args: (string | number)[]): Promise<unknown> => {
    const [command = '', ...rest] = args
    return node?.admin.call(String(command), rest)
  }

  await Promise.all(
    nodes.slice(0, masters).map((node, index) => {
      const [from, to] = [index, index + 1].map((part) => Math.ceil((part * slots) / masters))
      return run(node, 'CLUSTER', 'ADDSLOTSRANGE', from ?? 0, (to ?? 0) - 1)
    }),
  )
  for (const { process, busPort } of nodes.slice(1))
    await run(nodes[0], 'CLUSTER', 'MEET', '127.0.0.1', process.port, busPort)
  const knowsAll = async (node: Node): Promise<boolean> =>
    String(await run(node, 'CLUSTER', 'NODES'))
      .trim()
      .split('\n')
      .filter((line) => !line.includes('handshake')).length === nodes.length
  await until(async () => (await Promise.all(nodes.map(knowsAll))).every(Boolean))
  for (const [index, node] of nodes.slice(masters).entries())
    await run(node, 'CLUSTER', 'REPLICATE', String(await run(nodes[index], 'CLUSTER', 'MYID')))

  /** The slots with their nodes, the master first. */
  type SlotRange = readonly [from: number, to: number, ...nodes: (readonly [host: string, port: number])[]]
  const getSlots = async (node: Node): Promise<readonly SlotRange[]> =>
    (await run(node, 'CLUSTER', 'SLOTS')) as readonly SlotRange[]

  const isHealthy = async (): Promise<boolean> => {
    const states = await Promise.all(
      nodes.map(async (node) => {
        const [state, replication] = [await run(node, 'CLUSTER', 'INFO'), await run(node, 'INFO', 'replication')]
        const isInSync = /role:master[^]*connected_slaves:[1-9]|master_link_status:up/.test(String(replication))
        const ranges = await getSlots(node)
        return (
          String(state).includes('cluster_state:ok') &&
          isInSync &&
          ranges.length === masters &&
          ranges.every(([, , ...holders]) => holders.length === 2)
        )
      }),
    ).catch(() => [false])
    return states.every(Boolean)
  }
  const whenHealthy = (): Promise<void> => until(isHealthy)

  const findMaster = async (key: string): Promise<RedisProcess> => {
    for (const node of nodes) {
      if (node.admin.status !== 'ready') continue
      const slot = Number(await run(node, 'CLUSTER', 'KEYSLOT', key))
      const port = (await getSlots(node)).find(([from, to]) => from <= slot && slot <= to)?.[2]?.[1]
      const found = nodes.find(({ process }) => process.port === port)
      if (found !== undefined) return found.process
    }
    throw new Error('no node knows the master')
  }

  await whenHealthy()
  const hosts = nodes.map(({ process }) => `127.0.0.1:${process.port}`)
  return {
    url: `redis+cluster://:${password}@${hosts.join(',')}`,
    password,
    nodeUrls: hosts.map((host) => `redis://:${password}@${host}/0`),
    processes: nodes.map(({ process }) => process),
    findMaster,
    whenHealthy,
    close: async () => {
      for (const { admin } of nodes) admin.disconnect()
      await Promise.all(nodes.map(({ process }) => process.stop()))
    },
  }
}
