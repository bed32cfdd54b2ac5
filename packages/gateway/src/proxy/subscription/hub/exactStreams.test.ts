import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzCases } from '../../../../test/fuzzCases.ts'
import { createClient, openHub } from '../../../../test/openHub.ts'
import type { Notification, OpenHub, RecordingClient } from '../../../../test/openHub.ts'
import { createScriptedChain } from '../../../../test/scriptedChain.ts'
import type { ScriptedLog } from '../../../../test/scriptedChain.ts'
import type { ChainFollower } from '../followedChain.ts'
import { createTaskQueue } from './createTaskQueue.ts'
import type { TaskQueue } from './createTaskQueue.ts'

/** So few blocks are remembered that some cursors are too old. */
const remembered = 12
const clientCount = 30

const addresses = [1, 2, 3].map((digit) => `0x${String(digit).repeat(40)}`)
const words = [1, 2].map((digit) => `0x${String(digit).repeat(64)}`)

interface Filter {
  readonly address?: string
  readonly topics?: readonly (string | null)[]
}
const isMatch = ({ address, topics = [] }: Filter, log: ScriptedLog): boolean =>
  (address === undefined || address === log.address) &&
  topics.length <= log.topics.length &&
  topics.every((topic, position) => topic === null || topic === log.topics[position])

/** A block or a log that a client has; or, without content, the position of a block. */
interface Item {
  readonly number: number
  readonly hash: string
  readonly content?: string
}
interface Header {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
}
interface WireLog {
  readonly blockNumber: string
  readonly blockHash: string
  readonly data: string
  readonly removed: boolean
}

interface ClientKind {
  /** `undefined`: a client of heads. */
  readonly filter: Filter | undefined
  readonly inCursorMode: boolean
}

/** A client that applies what it gets, and resumes if it can. */
interface Client extends ClientKind {
  readonly toggle: () => void
  readonly isConnected: () => boolean
  /** Call this after a reorganization. */
  readonly sawReorg: (ancestor: number) => void
  /** What it has above the block from which on it should have everything, and that block. */
  readonly get: () => { readonly contents: readonly (string | undefined)[]; readonly base: number }
}

const createApplyingClient = (setup: Setup, { filter, inCursorMode }: ClientKind): Client => {
  let connection: RecordingClient | undefined
  /** Where the subscription starts. `undefined`: not yet known. */
  let start: number | undefined
  let base = 0
  let items: Item[] = []

  const connect = (): void => {
    const current = createClient()
    connection = current
    start = undefined
    if (!inCursorMode) items = []
    current.onNotification = apply
    const params: unknown[] = filter === undefined ? ['newHeads'] : ['logs', filter]
    if (inCursorMode) params.push({ cursor: getCursor() })
    setup.onLocated = (position) => {
      if (connection !== current) return
      start = position
      if (items.length === 0) base = position
    }
    setup.opened.hub.subscribe(current, JSON.stringify(params), (result) => {
      if (connection !== current || 'id' in result) return
      expect(result.code).toBe(-32001)
      items = []
      disconnect()
      connect()
    })
  }
  const disconnect = (): void => {
    if (connection === undefined) return
    connection.onNotification = () => {
      throw new Error('a notification after the connection was closed')
    }
    setup.opened.hub.leave(connection)
    connection = undefined
  }
  const getCursor = (): unknown => {
    const newest = items.at(-1)
    if (newest === undefined) return null
    const hashes = new Set(items.map(({ hash }) => hash).toReversed())
    return { number: `0x${newest.number.toString(16)}`, hashes: [...hashes].slice(0, 256) }
  }
  const apply = ({ params: { position, result } }: Notification): void => {
    if (position !== undefined) applyPosition(Number(position.number), position.hash)
    else if (filter === undefined) applyHead(result as Header)
    else applyLog(result as WireLog)
  }
  const applyPosition = (number: number, hash: string): void => {
    items = items.filter((item) => item.number <= number)
    base = Math.min(base, number)
    if (items.at(-1)?.hash !== hash) items.push({ number, hash })
  }
  const applyHead = ({ number, hash, parentHash }: Header): void => {
    // In cursor mode a position comes first if anything has to be undone.
    if (inCursorMode) expect(items.at(-1)?.number).toBe(Number(number) - 1)
    items = items.filter((item) => item.number < Number(number))
    const parent = items.at(-1)
    if (parent !== undefined) expect(parent).toMatchObject({ number: Number(number) - 1, hash: parentHash })
    items.push({ number: Number(number), hash, content: hash })
  }
  const applyLog = ({ blockNumber, blockHash, data, removed }: WireLog): void => {
    expect(removed && inCursorMode).toBe(false)
    if (!removed) items.push({ number: Number(blockNumber), hash: blockHash, content: data })
    // Logs from before the start are removed, too, as in geth.
    else if (items.length > 0) expect(items.pop()?.content).toBe(data)
  }
  return {
    filter,
    inCursorMode,
    toggle: () => (connection === undefined ? connect() : disconnect()),
    isConnected: () => connection !== undefined,
    sawReorg: (ancestor) => {
      if (!inCursorMode && start !== undefined) base = Math.min(base, ancestor)
    },
    get: () => ({
      contents: items
        .filter(({ number, content }) => number > base && content !== undefined)
        .map(({ content }) => content),
      base,
    }),
  }
}

/** What clients and actions share. */
interface Setup {
  readonly opened: OpenHub
  /** Called when the follower has found where the subscription that was requested last starts. */
  onLocated: (position: number) => void
}

const openSetup = (queue: TaskQueue): Setup => {
  const chain = createScriptedChain({ remembered, isSlow: true })
  const locate: ChainFollower['locate'] = (options, done) => {
    // Called by `subscribe`, so this is its client.
    const { onLocated } = setup
    chain.follower.locate(options, (result) => {
      if (typeof result === 'object') onLocated(result.position.number)
      done(result)
    })
  }
  const opened = openHub({ chain: { ...chain, follower: { ...chain.follower, locate } }, queue })
  const setup: Setup = { opened, onLocated: () => {} }
  return setup
}

const logs = fc.record({
  address: fc.constantFrom(...addresses),
  topics: fc.array(fc.constantFrom(...words), { maxLength: 3 }),
})
const filters: fc.Arbitrary<Filter> = fc.record(
  {
    address: fc.constantFrom(...addresses),
    topics: fc.array(fc.constantFrom(null, ...words), { maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const kinds = fc.record({ filter: fc.option(filters, { nil: undefined }), inCursorMode: fc.boolean() })
const actions = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('mine' as const), logs: fc.array(logs, { maxLength: 4 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('rollBack' as const), depth: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 8, arbitrary: fc.record({ type: fc.constant('toggle' as const), client: fc.nat(clientCount - 1) }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('respond' as const), count: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('wait' as const), turns: fc.integer({ min: 1, max: 20 }) }) },
)

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

test('clients that come, go and resume at random have exactly the blocks and logs of the chain', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(kinds, { minLength: clientCount, maxLength: clientCount }),
      fc.array(actions, { minLength: 50, maxLength: 200 }),
      fc.integer({ min: 1, max: 40 }),
      async (clientKinds, given, writes) => {
        const queue = createTaskQueue({ ms: Infinity, writes, schedule: setImmediate })
        const setup = openSetup(queue)
        const { hub, chain } = setup.opened
        const clients = clientKinds.map((kind) => createApplyingClient(setup, kind))
        for (const action of given) {
          if (action.type === 'mine') chain.mine(action.logs)
          else if (action.type === 'rollBack') {
            chain.rollBack(action.depth)
            for (const client of clients) client.sawReorg(chain.blocks().length - 1)
          } else if (action.type === 'toggle') clients[action.client]?.toggle()
          else if (action.type === 'respond') for (let count = 0; count < action.count; count += 1) chain.respond()
          else for (let count = 0; count < action.turns; count += 1) await turn()
          if (action.type !== 'toggle') await turn()
        }
        for (const client of clients) if (!client.isConnected()) client.toggle()
        for (; chain.waiting() > 0; await turn()) chain.respond()
        chain.mine([{ address: addresses[0] ?? '', topics: [] }])
        await new Promise<void>((resolve) => {
          queue.push(function* end() {
            yield 0
            resolve()
          })
        })
        for (const client of clients) {
          const { contents, base } = client.get()
          const { filter } = client
          const blocks = chain.blocks().slice(base + 1)
          expect(contents).toEqual(
            filter === undefined
              ? blocks.map(({ hash }) => hash)
              : blocks
                  .flatMap(({ logs: all = [] }) => all.filter((log) => isMatch(filter, log)))
                  .map(({ text }) => (JSON.parse(text) as WireLog).data),
          )
          client.toggle()
        }
        expect(hub.counts()).toEqual({ newHeads: 0, logs: 0, newPendingTransactions: 0, syncing: 0 })
        expect(chain.hasLogs()).toBe(false)
        hub.close()
      },
    ),
    { numRuns: fuzzCases(60) },
  )
})
