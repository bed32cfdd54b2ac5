import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import type { Hooks } from '@keyrail/core'
import { seededRandom } from '../faults/seededRandom.ts'
import { countOpen } from './countOpen.ts'
import { judgeWrites } from './judgeWrites.ts'
import { soakCall, TIMEOUT_MS } from './soakCall.ts'
import { soakHash } from './soakHash.ts'
import { createTally } from './soakTally.ts'
import type { SoakOutcome } from './soakTally.ts'
import { startSoakServer } from './startSoakServer.ts'
import { createFullTransport } from '../fullTransport.ts'
import type { FullOptions, FullTransport } from '../fullTransport.ts'

/** FullOptions of {@link runSoak}. */
export interface SoakOptions {
  readonly calls: number
  readonly seed: number
  /** The part of all requests that meets a fault. @default 0.2 */
  readonly share?: number
  /** About so many calls are under way at once. @default 300 */
  readonly concurrency?: number
  /** Used in place of Node's own carrier. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Collects garbage; without it, memory is not judged. */
  readonly collect?: (() => void) | undefined
  readonly onProgress?: (text: string) => void
}

/** One thing that must hold, and whether it does. */
export interface SoakCheck {
  readonly name: string
  readonly found: string
  readonly wanted: string
  readonly ok: boolean
}

/** What a soak found. */
export interface SoakReport {
  readonly figures: readonly (readonly [name: string, value: string])[]
  readonly checks: readonly SoakCheck[]
  /** The first few things that were wrong, in words. */
  readonly samples: readonly string[]
}

/** How long a call may wait in queues of ours, each time, in milliseconds. */
const MAX_WAIT_MS = 10_000
/** A call may end so much later than its deadline, in milliseconds: the machine is busy. */
const GRACE_MS = 1_000
/** A call that has not ended by then is given up, in milliseconds: it is lost. */
const LOST_MS = 90_000
/** One call in so many goes by a transport that does not live long: it makes so many, and is closed with the last of them under way. */
const SHORT_EVERY = 20
const SHORT_CALLS = 50
/** One call in so many begins an explicit batch of so many. */
const BATCH_EVERY = 40
const BATCH_SIZE = 3
/** A caller makes so many calls at once, on average, and waits for all of them. */
const WAVE_SIZE = 6

/** A transport, and which calls went by it. */
interface Lane {
  readonly transport: FullTransport
  /** The calls by the number that hooks give them, from 1. */
  readonly calls: Int32Array
  made: number
}

/**
 * Makes very many calls through random faults, and finds out whether any was lost, crossed with another, or hung; whether any transaction was sent
 * twice; and whether memory, timers or sockets are left behind.
 */
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const { calls, seed, share = 0.2, concurrency = 300, fetch, collect, onProgress } = options
  const server = await startSoakServer(seed, share)
  const open = countOpen()
  const tally = createTally(calls)
  /** How much time each call was given. */
  const limits = new Int32Array(calls)
  let made = 0
  let told = 0
  let late = 0
  let lost = 0
  let plainReads = 0
  let plainAnswered = 0
  let worstMs = 0
  let closing = false

  const queues = new Set<Lane>()
  const openLane = (address: FullOptions, room: number): Lane => {
    const onEnd: Hooks['onResponse'] & Hooks['onFailure'] = ({ id, durationMs, queuedMs, method }) => {
      if (closing) return
      told++
      const index = queue.calls[id] as number
      const overMs = durationMs - queuedMs - (limits[index] as number)
      worstMs = Math.max(worstMs, overMs)
      if (overMs <= GRACE_MS) return
      late++
      tally.say(`${method} ${index} took ${Math.round(durationMs)} ms, ${Math.round(queuedMs)} of them in queues`)
    }
    const transport = createFullTransport({
      ...address,
      fetch,
      timeoutMs: TIMEOUT_MS,
      maxWaitMs: MAX_WAIT_MS,
      batch: { maxCalls: 20 },
      budget: { requestsPerSecond: 4_000 },
      breaker: { openMs: 200 },
      cache: { maxBytes: 32_768 },
      retry: { baseMs: 20, capMs: 500 },
      hedge: true,
      keccak256: soakHash,
      hooks: { onResponse: onEnd, onFailure: onEnd },
    })
    const queue: Lane = { transport, calls: new Int32Array(room + 1), made: 0 }
    queues.add(queue)
    return queue
  }
  const openShort = (): Lane => openLane({ url: server.harshUrl }, SHORT_CALLS)
  const main = openLane({ endpoints: server.urls.map((url) => ({ url })) }, calls)
  let short = openShort()

  /** Calls under way, and how to stop waiting for one. */
  const pending = new Map<number, { readonly since: number; readonly giveUp: () => void }>()
  const watchdog = setInterval(() => {
    for (const [index, { since, giveUp }] of pending)
      if (performance.now() - since > LOST_MS) {
        lost++
        tally.say(`${soakCall(index, seed).args.method} ${index} has not ended`)
        giveUp()
      }
  }, 1_000)
  const waitFor = (index: number, end: Promise<void>): Promise<void> =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => {
        pending.delete(index)
        resolve()
      }
      pending.set(index, { since: performance.now(), giveUp })
      end.then(giveUp, reject)
    })

  const enter = (queue: Lane, index: number, limitMs: number): void => {
    queue.calls[++queue.made] = index
    limits[index] = limitMs
    made++
  }
  const queueOf = (index: number): Lane => {
    if (index % SHORT_EVERY !== 0) return main
    if (short.made < SHORT_CALLS) return short
    short.transport.close()
    queues.delete(short)
    return (short = openShort())
  }

  const makeOne = (index: number): Promise<void> => {
    const queue = queueOf(index)
    const call = soakCall(index, seed)
    const { args, timeoutMs, priority, abortMs } = call
    enter(queue, index, timeoutMs)
    const controller = abortMs === undefined ? undefined : new AbortController()
    const ownReason = controller && { aborted: index }
    const timer = controller && setTimeout(() => controller.abort(ownReason), abortMs)
    const isPlain = queue === main && !controller && timeoutMs === TIMEOUT_MS && !args.method.startsWith('eth_send')
    if (isPlain) plainReads++
    const end = (outcome: SoakOutcome): void => {
      clearTimeout(timer)
      if (isPlain && outcome.status === 'fulfilled') plainAnswered++
      tally.end(index, call, outcome, ownReason)
    }
    const response = queue.transport.request(args, { timeoutMs, priority, signal: controller?.signal })
    return waitFor(
      index,
      response.then(
        (value) => end({ status: 'fulfilled', value }),
        (reason: unknown) => end({ status: 'rejected', reason }),
      ),
    )
  }

  const makeBatch = async (from: number): Promise<void> => {
    const together = Array.from({ length: BATCH_SIZE }, (_, at) => soakCall(from + at, seed))
    for (const at of together.keys()) enter(main, from + at, TIMEOUT_MS)
    const end = async (): Promise<void> => {
      const outcomes: readonly SoakOutcome[] = await main.transport.batch(together.map(({ args }) => args) as never)
      for (const [at, call] of together.entries()) tally.end(from + at, call, outcomes[at] as SoakOutcome)
    }
    await waitFor(from, end())
  }

  let next = 0
  /** Makes calls in waves, as a page or an indexer does: so that there is something to join. */
  const caller = async (end: number, number: number): Promise<void> => {
    const random = seededRandom(seed + number)
    while (next < end) {
      const wave: Promise<void>[] = []
      for (let left = 1 + Math.floor(random() * WAVE_SIZE * 2); left > 0 && next < end; left--) {
        const from = next
        const isBatch = from % BATCH_EVERY === 1 && from + BATCH_SIZE <= end
        next += isBatch ? BATCH_SIZE : 1
        wave.push(isBatch ? makeBatch(from) : makeOne(from))
      }
      await Promise.all(wave)
    }
  }

  const startedAt = performance.now()
  const heaps: number[] = []
  for (const quarter of [1, 2, 3, 4]) {
    const end = Math.round((calls * quarter) / 4)
    await Promise.all(Array.from({ length: concurrency / WAVE_SIZE }, (_, number) => caller(end, number)))
    await nextTurn()
    collect?.()
    heaps.push(process.memoryUsage().heapUsed / 2 ** 20)
    onProgress?.(`${next} calls after ${Math.round((performance.now() - startedAt) / 1_000)} s`)
  }
  const seconds = (performance.now() - startedAt) / 1_000
  clearInterval(watchdog)
  const stats = main.transport.stats()

  // Closed with calls under way, which are no part of the count.
  closing = true
  const cut = [...queues].flatMap(({ transport }) =>
    Array.from({ length: 20 }, () => transport.request({ method: 'eth_call', params: ['closing'] })),
  )
  for (const { transport } of queues) transport.close()
  await Promise.allSettled(cut)
  await nextTurn()
  // Fetch keeps connections, with a timer each, for as long as it likes: it lets go of them when they have been idle for some seconds.
  if (fetch) await until(() => open.timers() === 0, 15_000)
  const timers = open.timers()
  await until(() => open.sockets() === 0, 1_000)
  const sockets = open.sockets()
  open.stop()
  const { taken, requests, calls: asked, largestBatch, faults } = await server.report()
  await server.stop()

  const writes = judgeWrites(tally, taken, seed)
  const met = sum(Object.values(faults))
  const [first = 0, , , last = 0] = heaps
  const bound = first * 1.2 + 5
  const must = (name: string, found: number, wanted: number): SoakCheck => ({
    name,
    found: String(found),
    wanted: String(wanted),
    ok: found === wanted,
  })
  const checks: SoakCheck[] = [
    must('calls made', made, calls),
    must('calls that ended, exactly once each', tally.settled.filter((times) => times === 1).length, calls),
    must('calls that hooks told the end of', told, calls),
    must('calls under way at the end', stats.inFlight, 0),
    must('calls that never ended', lost, 0),
    must('calls that ended over 1 s after their deadline', late, 0),
    must('answers and failures of another call', tally.crossed, 0),
    must('failures without a name', tally.nameless, 0),
    must('transactions that were sent twice', writes.doubled, 0),
    must('transactions answered, but never taken', writes.untaken, 0),
    must('timers left after close', timers, 0),
    must('sockets left after close', sockets, 0),
    {
      name: 'reads with all their time that were answered',
      found: percent(plainAnswered / plainReads),
      wanted: 'at least 90 %',
      ok: plainAnswered >= 0.9 * plainReads,
    },
    {
      name: 'requests that met a fault',
      found: percent(met / requests),
      wanted: `${percent(share)}, give or take a fifth of it`,
      ok: Math.abs(met / requests - share) < share / 5,
    },
  ]
  if (collect)
    checks.push({
      name: 'heap at the end, MiB',
      found: last.toFixed(1),
      wanted: `at most ${bound.toFixed(1)}, by the first quarter`,
      ok: last <= bound,
    })
  return {
    checks,
    samples: tally.samples,
    figures: [
      ['calls', String(calls)],
      ['seconds', seconds.toFixed(1)],
      ['calls a second', (calls / seconds).toFixed(0)],
      ['requests that the servers read, calls in them', [requests, asked].join(', ')],
      ['faults met, of so many kinds', [met, Object.keys(faults).length].join(', ')],
      ['batches, calls in them, largest', [stats.batches, stats.batchedCalls, largestBatch].join(', ')],
      ['retries, reroutes, hedges', [stats.retries, stats.rerouted, stats.hedged].join(', ')],
      ['joined, cached', [stats.joined, stats.cached].join(', ')],
      ['transactions', String(writes.made)],
      ['latest end after a deadline, ms', worstMs.toFixed(0)],
      ['heap at each quarter, MiB', heaps.map((size) => size.toFixed(1)).join(', ')],
      ['memory of the process, MiB', (process.memoryUsage.rss() / 2 ** 20).toFixed(1)],
      ['calls that failed', String(sum(Object.values(tally.failures)))],
      ...Object.entries(tally.failures)
        .toSorted(([, one], [, other]) => other - one)
        .map(([kind, count]) => [`  ${kind}`, String(count)] as const),
    ],
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
const percent = (part: number): string => `${(part * 100).toFixed(1)} %`
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Waits until something holds, but no longer than so many milliseconds. */
async function until(holds: () => boolean, ms: number): Promise<void> {
  const end = performance.now() + ms
  while (!holds() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
}
