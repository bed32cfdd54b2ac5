import { createBufferedBytes, createLogIndex, createTaskQueue, openHub } from '@keyrail/gateway/test/openHub.ts'
import type { OpenHub } from '@keyrail/gateway/test/openHub.ts'
import type { ScriptedLog } from '@keyrail/gateway/test/scriptedChain.ts'

// Run by measureFigures, or by hand: `node --conditions=@keyrail/source packages/bench/test/gateway/measureSubscriptions.ts 1`.

const connections = 5_000
const notifications = 20_000
const warmUps = 5
const blocksPerRound = 20

const pad = (value: number, digits: number): string => `0x${value.toString(16).padStart(digits, '0')}`
const toAddress = (index: number): string => pad(index, 40)
const toTopic = (index: number): string => pad(index, 64)

const transfer = toTopic(0xddf2_52ad)
const approval = toTopic(0x8c5b_e1e5)
const hotToken = toAddress(1)
const hotRecipient = toTopic(0xacc_0007)
const toAccount = (index: number): string => toTopic(0xacc_0000 + index)

/** The share of each kind of filter, in percent. */
const mix: readonly (readonly [percent: number, toFilter: (index: number) => Parameters<Index['add']>[0]])[] = [
  [40, (index) => ({ addresses: [hotToken], topics: [[transfer], [], [toAccount(index)]] })],
  [20, (index) => ({ addresses: [], topics: [[transfer], [toAccount(index)]] })],
  [10, (index) => ({ addresses: [], topics: [[], [], [toAccount(index)]] })],
  [10, (index) => ({ addresses: [toAddress(index + 1)], topics: [] })],
  [10, (index) => ({ addresses: [toAddress(index + 1)], topics: [[approval, transfer]] })],
  [5, (index) => ({ addresses: [], topics: [[toTopic(index)]] })],
  [
    5,
    (index) => ({
      addresses: [index, index + 1, index + 2].map(toAddress),
      topics: [[], [toAccount(index), hotRecipient]],
    }),
  ],
]
type Index = ReturnType<typeof createLogIndex<object>>

const openIndex = (filters: number): Index => {
  const index = createLogIndex<object>()
  for (const [percent, toFilter] of mix)
    for (let number = 0; number < (filters * percent) / 100; number += 1) index.add(toFilter(number), {})
  return index
}

/** Every other log is of the hot token, and every fifth goes to the hot recipient. The strings are new, as those of a node's response. */
const createLogs = (): readonly ScriptedLog[] => {
  const logs = Array.from({ length: 500 }, (_, index) => ({
    address: index % 2 === 0 ? hotToken : toAddress((index * 7) % 2_000),
    topics: [
      index % 3 === 0 ? toTopic(index) : transfer,
      toAccount((index * 13) % 5_000),
      index % 5 === 0 ? hotRecipient : toAccount((index * 31) % 9_000),
    ],
  }))
  return JSON.parse(JSON.stringify(logs)) as readonly ScriptedLog[]
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const measureMatching = (index: Index): number => {
  let matches = 0
  const times = Array.from({ length: blocksPerRound }, () => {
    const logs = createLogs()
    const startedAt = performance.now()
    for (const log of logs) for (const _ of index.match(log, () => (matches += 1))) continue
    return performance.now() - startedAt
  })
  if (matches === 0) throw new Error('no filter matched')
  return median(times)
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

interface Subject extends OpenHub {
  readonly delivered: () => number
}

const openSubject = (toParams: (connection: number) => readonly unknown[]): Subject => {
  let delivered = 0
  const limits = {
    maxSubscriptions: 1,
    maxAddresses: 1,
    maxTopics: 2,
    maxNotificationsPerBlock: notifications,
    fullTransactions: false,
  }
  const opened = openHub({ limits, queue: createTaskQueue() })
  for (let connection = 0; connection < connections; connection += 1) {
    const subscriber = {
      memory: createBufferedBytes('subscriptions', { most: Infinity }),
      deliver: (_frames: Buffer, count: number) => {
        delivered += count
      },
      end: () => {},
      fail: (reason: string) => {
        throw new Error(reason)
      },
    }
    opened.subscribe(subscriber, ...toParams(connection))
  }
  return { ...opened, delivered: () => delivered }
}

interface BlockCost {
  readonly cpuMs: number
  /** The longest turn of the event loop. */
  readonly stallMs: number
}

const measureBlock = async (
  { chain, delivered }: Subject,
  logs: readonly ScriptedLog[],
  expected: number,
): Promise<BlockCost> => {
  const add = chain.prepare(logs)
  globalThis.gc?.()
  await turn()
  const until = delivered() + expected
  const before = process.cpuUsage()
  let turnedAt = performance.now()
  let stallMs = 0
  add()
  for (;;) {
    stallMs = Math.max(stallMs, performance.now() - turnedAt)
    turnedAt = performance.now()
    if (delivered() >= until) break
    await turn()
  }
  if (delivered() > until) throw new Error(`${delivered() - until} notifications too many`)
  const { user, system } = process.cpuUsage(before)
  return { cpuMs: (user + system) / 1_000, stallMs }
}

const hotLogs = Array.from({ length: notifications / connections }, () => ({ address: hotToken, topics: [transfer] }))
const indexes = { many: openIndex(10_000), few: openIndex(100) }
const subjects = {
  heads: { subject: openSubject(() => ['newHeads']), logs: [], expected: connections },
  shared: { subject: openSubject(() => ['logs', { address: hotToken }]), logs: hotLogs, expected: notifications },
  own: {
    subject: openSubject((connection) => ['logs', { address: hotToken, topics: [[transfer, toTopic(connection)]] }]),
    logs: hotLogs,
    expected: notifications,
  },
}

const figures: Record<'matching' | 'growth' | 'heads' | 'shared' | 'own' | 'stall', number[]> = {
  matching: [],
  growth: [],
  heads: [],
  shared: [],
  own: [],
  stall: [],
}
for (let round = -warmUps; round < Number(process.argv[2]); round += 1) {
  const matching = measureMatching(indexes.many)
  const few = measureMatching(indexes.few)
  let stall = 0
  const costs: number[] = []
  for (const { subject, logs, expected } of Object.values(subjects)) {
    // The subscriptions have just started, or the last block is still being written.
    await turn()
    const { cpuMs, stallMs } = await measureBlock(subject, logs, expected)
    costs.push(cpuMs)
    stall = Math.max(stall, stallMs)
  }
  if (round < 0) continue
  figures.matching.push(matching)
  figures.growth.push(matching / few)
  figures.heads.push(costs[0] ?? 0)
  figures.shared.push(costs[1] ?? 0)
  figures.own.push(costs[2] ?? 0)
  figures.stall.push(stall)
}
process.stdout.write(JSON.stringify(figures))
for (const { subject } of Object.values(subjects)) subject.hub.close()
