import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import type { Hooks } from '@keyrail/core'
import { seededRandom } from '@keyrail/core/test/faults/seededRandom.ts'
import { countOpen } from './countOpen.ts'
import { verifyWrites } from './verifyWrites.ts'
import { soakCall, TIMEOUT_MS } from './soakCall.ts'
import { soakHash } from './soakHash.ts'
import { createTally } from './soakTally.ts'
import type { SoakOutcome } from './soakTally.ts'
import { startSoakServer } from './startSoakServer.ts'
import { createFullTransport } from '@keyrail/core/test/fullTransport.ts'
import type { FullOptions, FullTransport } from '@keyrail/core/test/fullTransport.ts'

/** Options of {@link runSoak}. */
export interface SoakOptions {
  readonly calls: number
  readonly seed: number
  /** The share of requests with a fault. @default 0.2 */
  readonly share?: number
  /** The approximate number of concurrent calls. @default 300 */
  readonly concurrency?: number
  /** Used instead of node:http. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Collects garbage. Without it, memory is not checked. */
  readonly collect?: (() => void) | undefined
  readonly onProgress?: (text: string) => void
}

/** The result of one check. */
export interface SoakCheck {
  readonly name: string
  readonly found: string
  readonly wanted: string
  readonly ok: boolean
}

/** The results of a soak test. */
export interface SoakReport {
  readonly figures: readonly (readonly [name: string, value: string])[]
  readonly checks: readonly SoakCheck[]
  /** The first problems, as text. */
  readonly samples: readonly string[]
}

/** How long a call may wait in a queue, in milliseconds. */
const MAX_WAIT_MS = 10_000
/** How long after its deadline a call may complete, in milliseconds: the machine is busy. */
const GRACE_MS = 1_000
/** When a call that has not completed counts as lost, in milliseconds. */
const LOST_MS = 90_000
/** One in `SHORT_EVERY` calls uses a short-lived transport, which is closed after `SHORT_CALLS` calls while the last are in flight. */
const SHORT_EVERY = 20
const SHORT_CALLS = 50
/** One in `BATCH_EVERY` calls starts an explicit batch of `BATCH_SIZE` calls. */
const BATCH_EVERY = 40
const BATCH_SIZE = 3
/** The average number of calls that a caller makes at once and waits for. */
const WAVE_SIZE = 6

/** A transport with its calls. */
interface Client {
  readonly transport: FullTransport
  /** The calls by the id in hooks, from 1. */
  readonly calls: Int32Array
  made: number
}

/**
 * Makes many calls through random faults, and checks that none is lost, mixed up with another or hangs, that no transaction is sent twice, and
 * that no memory, timers or sockets leak.
 */
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const { calls, seed, share = 0.2, concurrency = 300, fetch, collect, onProgress } = options
  const server = await startSoakServer(seed, share)
  const open = countOpen()
  const tally = createTally(calls)
  /** The timeout of each call. */
  const limits = new Int32Array(calls)
  let made = 0
  let reported = 0
  let late = 0
  let lost = 0
  let plainReads = 0
  let plainSucceeded = 0
  let worstMs = 0
  let closing = false

  const clients = new Set<Client>()
  const openClient = (address: FullOptions, room: number): Client => {
    const onEnd: Hooks['onResponse'] & Hooks['onFailure'] = ({ id, durationMs, queuedMs, method }) => {
      if (closing) return
      reported++
      const index = client.calls[id] as number
      const overMs = durationMs - queuedMs - (limits[index] as number)
      worstMs = Math.max(worstMs, overMs)
      if (overMs <= GRACE_MS) return
      late++
      tally.report(`${method} ${index} took ${Math.round(durationMs)} ms, ${Math.round(queuedMs)} of them in queues`)
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
    const client: Client = { transport, calls: new Int32Array(room + 1), made: 0 }
    clients.add(client)
    return client
  }
  const openShort = (): Client => openClient({ url: server.harshUrl }, SHORT_CALLS)
  const main = openClient({ endpoints: server.urls.map((url) => ({ url })) }, calls)
  let short = openShort()

  /** Calls in flight, each with a function to stop waiting for it. */
  const pending = new Map<number, { readonly since: number; readonly giveUp: () => void }>()
  const watchdog = setInterval(() => {
    for (const [index, { since, giveUp }] of pending)
      if (performance.now() - since > LOST_MS) {
        lost++
        tally.report(`${soakCall(index, seed).args.method} ${index} has not ended`)
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

  const enter = (client: Client, index: number, limitMs: number): void => {
    client.calls[++client.made] = index
    limits[index] = limitMs
    made++
  }
  const clientFor = (index: number): Client => {
    if (index % SHORT_EVERY !== 0) return main
    if (short.made < SHORT_CALLS) return short
    short.transport.close()
    clients.delete(short)
    return (short = openShort())
  }

  const makeOne = (index: number): Promise<void> => {
    const client = clientFor(index)
    const call = soakCall(index, seed)
    const { args, timeoutMs, priority, abortMs } = call
    enter(client, index, timeoutMs)
    const controller = abortMs === undefined ? undefined : new AbortController()
    const ownReason = controller && { aborted: index }
    const timer = controller && setTimeout(() => controller.abort(ownReason), abortMs)
    const isPlain = client === main && !controller && timeoutMs === TIMEOUT_MS && !args.method.startsWith('eth_send')
    if (isPlain) plainReads++
    const end = (outcome: SoakOutcome): void => {
      clearTimeout(timer)
      if (isPlain && outcome.status === 'fulfilled') plainSucceeded++
      tally.end(index, call, outcome, ownReason)
    }
    const response = client.transport.request(args, { timeoutMs, priority, signal: controller?.signal })
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
  /** Makes calls in waves, as a page or an indexer does, so that some can be batched. */
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

  // Transports are closed with calls in flight, which do not count.
  closing = true
  const cut = [...clients].flatMap(({ transport }) =>
    Array.from({ length: 20 }, () => transport.request({ method: 'eth_call', params: ['closing'] })),
  )
  for (const { transport } of clients) transport.close()
  await Promise.allSettled(cut)
  await nextTurn()
  // fetch closes its connections, each with a timer, only after some idle seconds.
  if (fetch) await until(() => open.timers() === 0, 15_000)
  const timers = open.timers()
  await until(() => open.sockets() === 0, 1_000)
  const sockets = open.sockets()
  open.stop()
  const { taken, requests, calls: asked, largestBatch, faults } = await server.report()
  await server.stop()

  const writes = verifyWrites(tally, taken, seed)
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
    must('calls that completed exactly once', tally.completed.filter((times) => times === 1).length, calls),
    must('calls reported to hooks', reported, calls),
    must('calls in flight at the end', stats.inFlight, 0),
    must('calls that never completed', lost, 0),
    must('calls that completed over 1 s after their deadline', late, 0),
    must('results and failures of another call', tally.crossed, 0),
    must('failures without a name', tally.nameless, 0),
    must('transactions that were sent twice', writes.doubled, 0),
    must('transactions that succeeded, but never arrived', writes.untaken, 0),
    must('timers left after close', timers, 0),
    must('sockets left after close', sockets, 0),
    {
      name: 'reads with the full timeout that succeeded',
      found: percent(plainSucceeded / plainReads),
      wanted: 'at least 90 %',
      ok: plainSucceeded >= 0.9 * plainReads,
    },
    {
      name: 'requests with a fault',
      found: percent(met / requests),
      wanted: `${percent(share)}, within a fifth of it`,
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
      ['requests received, calls in them', [requests, asked].join(', ')],
      ['faults, kinds of faults', [met, Object.keys(faults).length].join(', ')],
      ['batches, calls in them, largest', [stats.batches, stats.batchedCalls, largestBatch].join(', ')],
      ['retries, reroutes, hedges', [stats.retries, stats.rerouted, stats.hedged].join(', ')],
      ['joined, cached', [stats.joined, stats.cached].join(', ')],
      ['transactions', String(writes.made)],
      ['maximum time over a deadline, ms', worstMs.toFixed(0)],
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

/** Waits until a condition holds, up to a time in milliseconds. */
async function until(holds: () => boolean, ms: number): Promise<void> {
  const end = performance.now() + ms
  while (!holds() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
}
