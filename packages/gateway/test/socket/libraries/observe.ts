import { setTimeout as pause } from 'node:timers/promises'
import { createApiKey } from '../../../src/index.ts'
import { createTestGateway } from '../../createTestGateway.ts'
import type { TestGateway } from '../../createTestGateway.ts'
import { createMemoryKeyStore } from '../../createMemoryKeyStore.ts'
import type { KeyRecord } from '../../../src/auth/key/keyStore.ts'
import type { LogEntry } from '../../../src/proxy/log.ts'
import { chainIds } from '../../startGateway.ts'
import { startChainAnvil } from '../../subscription/chainAnvil.ts'
import type { ChainAnvil } from '../../subscription/chainAnvil.ts'
import type { LibraryClient, OpenLibrarySocket, SocketEvent } from './librarySocket.ts'
import type { SocketBehavior } from './socketBehavior.ts'

/** Longer than any of the libraries waits for before it connects again. */
const patienceMs = 9_000

/**
 * Waits until a condition holds.
 * @param act - Done before each check.
 * @returns Whether it does in time.
 */
async function becomes(
  condition: () => boolean,
  withinMs = patienceMs,
  act: () => Promise<void> | void = () => {},
): Promise<boolean> {
  const endAt = performance.now() + withinMs
  while (!condition()) {
    if (performance.now() > endAt) return false
    await act()
    await pause(20)
  }
  return true
}

interface Setting {
  readonly anvil: ChainAnvil
  readonly stop: () => Promise<void>
  /** Starts the service again at the same port. */
  readonly startAgain: () => Promise<void>
  readonly revokeKey: () => void
  /** How many WebSockets the client has opened. */
  readonly countOpened: () => number
}

const isHead =
  (number: number) =>
  (event: SocketEvent): boolean =>
    event.kind === 'head' && event.number === number

const mineAndGetHead = async ({ anvil }: Setting): Promise<{ number: number; hash: string }> => {
  await anvil.mine(1)
  const blocks = await anvil.blocks()
  return { number: blocks.length - 1, hash: blocks.at(-1)?.hash ?? '' }
}

async function observeEvents(setting: Setting, client: LibraryClient): Promise<Partial<SocketBehavior>> {
  const { anvil } = setting
  const { events } = client
  const hasPending = await becomes(
    () => events.some(({ kind }) => kind === 'pending'),
    patienceMs,
    async () => {
      await anvil.mine(1)
      await pause(500)
    },
  )
  const head = await mineAndGetHead(setting)
  const hasBlocks = await becomes(() => events.some(isHead(head.number)))
  const hasLogs = await becomes(() => events.some((event) => event.kind === 'log' && event.hash === head.hash))
  const withHash = events.some((event) => event.kind === 'head' && event.hash === head.hash)

  const before = events.length
  await anvil.send('anvil_rollback', [1])
  await anvil.mine(1)
  await anvil.mine(1)
  const branch = (await anvil.blocks()).slice(-2)
  const isComplete = await becomes(() => events.slice(before).some(isHead(head.number + 1)))
  const isRemoved = (event: SocketEvent): boolean => event.kind === 'log' && event.removed && event.hash === head.hash
  const hasRemoved = await becomes(() => events.slice(before).some(isRemoved))
  const heads = events.slice(before).filter((event) => event.kind === 'head')
  const hasBranch = branch.every(({ hash }) => heads.some((event) => event.hash === hash))
  const hasNumbers = [0, 1].every((offset) => heads.some(isHead(head.number + offset)))
  return {
    requests: client.blockNumber > 0 ? 'yes' : 'no',
    blocks: !hasBlocks ? 'no' : withHash ? 'yes' : 'only their numbers',
    logs: hasLogs ? 'yes' : 'no',
    pending: hasPending ? 'yes' : 'no',
    reorgBlocks: !isComplete
      ? 'no'
      : hasBranch
        ? 'the new blocks'
        : hasNumbers
          ? 'their numbers again'
          : 'only newer ones',
    reorgLogs: hasRemoved ? 'yes' : 'no',
  }
}

/** Three rounds of the service's pings. */
async function observeIdle(setting: Setting, client: LibraryClient): Promise<Partial<SocketBehavior>> {
  await pause(3_500)
  const head = await mineAndGetHead(setting)
  const stays = await becomes(() => client.events.some(isHead(head.number)))
  return { idle: stays && setting.countOpened() === 1 ? 'stays open' : 'is lost' }
}

/** The service ends and starts again, at once or after a while. A block is mined in between. */
async function observeRestart(
  setting: Setting,
  client: LibraryClient,
  awayMs: number,
): Promise<{ readonly restart: SocketBehavior['restart']; readonly missed: SocketBehavior['missed'] }> {
  await setting.stop()
  const missed = await mineAndGetHead(setting)
  await pause(awayMs)
  await setting.startAgain()
  const opened = setting.countOpened()
  const connects = await becomes(() => setting.countOpened() > opened)
  // The time to subscribe.
  await pause(500)
  const later = await mineAndGetHead(setting)
  const subscribes = await becomes(() => client.events.some(isHead(later.number)), 4_000)
  return {
    restart: subscribes
      ? 'connects and subscribes again'
      : connects
        ? 'connects, but does not subscribe again'
        : 'is over',
    missed: client.events.some(isHead(missed.number)) ? 'delivered' : 'missing',
  }
}

async function observeRevoked(setting: Setting, client: LibraryClient): Promise<Partial<SocketBehavior>> {
  setting.revokeKey()
  const reports = await becomes(() => client.errors.length > 0, 12_000)
  return { revoked: reports ? 'reports an error' : 'reports nothing' }
}

/** Opens a client of a service in front of a real node, and observes it. */
async function withClient<Result>(
  open: OpenLibrarySocket,
  observe: (setting: Setting, client: LibraryClient) => Promise<Result>,
): Promise<Result> {
  const anvil = await startChainAnvil()
  const keys = createMemoryKeyStore()
  const apiKey = createApiKey('app')
  const addKey = (status: KeyRecord['status']): void =>
    keys.add(apiKey, { id: 'app-1', kind: 'app', networks: ['testnet'], status })
  addKey('active')
  const entries: LogEntry[] = []
  const start = async (at = 0): Promise<{ gateway: TestGateway; port: number }> => {
    const gateway = createTestGateway({
      networks: { testnet: { chainId: chainIds.testnet, upstreams: [{ url: anvil.url }] } },
      keys,
      webSocket: { pingMs: 1_000 },
      log: (entry) => entries.push(entry),
    })
    const { port } = await gateway.listen({ port: at })
    return { gateway, port }
  }
  let started = await start()
  const client = await open(`ws://127.0.0.1:${started.port}/testnet/v2/${apiKey}`)
  try {
    const setting: Setting = {
      anvil,
      stop: () => started.gateway.close(),
      startAgain: async () => {
        started = await start(started.port)
      },
      revokeKey: () => addKey('revoked'),
      countOpened: () => entries.filter((entry) => entry.event === 'webSocket' && entry.state === 'opened').length,
    }
    return await observe(setting, client)
  } finally {
    await client.close()
    await started.gateway.close()
    await anvil.stop()
  }
}

/** Observes what a library's own WebSocket does with the service, in front of a real node. */
export async function observeSocket(open: OpenLibrarySocket): Promise<SocketBehavior> {
  const [first, outage, revoked] = await Promise.all([
    withClient(open, async (setting, client) => ({
      ...(await observeEvents(setting, client)),
      ...(await observeIdle(setting, client)),
      ...(await observeRestart(setting, client, 0)),
    })),
    withClient(open, async (setting, client) => {
      const { restart } = await observeRestart(setting, client, 6_000)
      return { outage: restart }
    }),
    withClient(open, observeRevoked),
  ])
  return { ...first, ...outage, ...revoked } as SocketBehavior
}
