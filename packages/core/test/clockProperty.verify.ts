import { isKeyrailError } from '@keyrail/core'
import type { CallOptions, ResponseEvent } from '@keyrail/core'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { memoryFetch } from './memoryFetch.ts'
import type { Fetched, FetchReply } from './memoryFetch.ts'
import { echoAll } from './scriptedPost.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions, FullTransport } from './fullTransport.ts'

const DAY_MS = 86_400_000
const noon = Date.UTC(2026, 0, 1, 12)

let reading: number

beforeEach(() => {
  // `performance` is mocked separately from the timers, so that it can jump.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: noon })
  reading = 1e6
  vi.spyOn(performance, 'now').mockImplementation(() => reading)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** How the clock behaves while time passes for timers. */
const clockSteps: Record<string, (ms: number) => void> = {
  'runs well': (ms) => (reading += ms),
  'is stuck': () => {},
  'runs at half the speed': (ms) => (reading += ms / 2),
  'goes a day forward': (ms) => {
    reading += DAY_MS + ms
    vi.setSystemTime(Date.now() + DAY_MS)
  },
  'goes a day back': (ms) => {
    reading -= DAY_MS - ms
    vi.setSystemTime(Date.now() - DAY_MS)
  },
  'starts at 0': () => {
    reading = 0
    vi.setSystemTime(0)
  },
  'is no number': () => (reading = NaN),
}

const replies: Record<string, (sent: Fetched) => FetchReply> = {
  response: (sent) => echoAll(sent),
  'response late': (sent) => ({ ...echoAll(sent), afterMs: 700 }),
  hang: () => ({ never: true }),
  'a head and no more': () => ({ headOnly: true }),
  break: () => ({ facts: { text: 'fetch failed' }, afterMs: 5 }),
  busy: () => ({ status: 503, text: 'busy' }),
  'too many': () => ({ status: 429, text: 'Too Many Requests', headers: { 'retry-after': '1' } }),
  'quota used up': () => ({ status: 402, text: 'monthly quota used up' }),
}

const two = { endpoints: [{ url: 'https://one.example' }, { url: 'https://two.example' }] }
const one = { url: 'https://one.example' }
const setUps: Record<string, object> = {
  'one endpoint': one,
  'two endpoints': two,
  weighted: { endpoints: two.endpoints.map((endpoint) => ({ ...endpoint, weight: 1 })) },
  hedged: { ...two, hedge: { minMs: 20, maxRatio: 1 } },
  'a rate': { ...one, budget: { requestsPerSecond: 5, burst: 1 } },
  'a day limit': { ...two, budget: { requestsPerDay: 3 } },
  'a narrow gate': { ...one, maxInFlight: 1 },
  batches: { ...two, batch: true },
  'minimal blocks': { ...two, minBlock: true },
  'a store that hangs': { ...one, chainId: 1, cache: { store: { get: () => new Promise(() => {}), set: () => {} } } },
  'a breaker that opens at once': { ...two, breaker: { failures: 1, openMs: 1_000 } },
}

const timeoutMs = 2_000
const maxWaitMs = 1_000
/** Each of four attempts at two endpoints can wait for a budget and for a gate, in addition to the timeout of the call. */
const longestMs = timeoutMs + 4 * 2 * 2 * maxWaitMs + 1_000

interface Step {
  readonly clock: string
  readonly reply: string
  readonly calls: readonly { readonly method: string; readonly priority: CallOptions['priority'] }[]
  readonly ms: number
}

const nameIn = (table: object): fc.Arbitrary<string> => fc.constantFrom(...Object.keys(table))
const step: fc.Arbitrary<Step> = fc.record({
  clock: nameIn(clockSteps),
  reply: nameIn(replies),
  calls: fc.array(
    fc.record({
      method: fc.constantFrom(
        'eth_getBalance',
        'eth_blockNumber',
        'eth_getBlockByHash',
        'eth_sendTransaction',
        'eth_getLogs',
      ),
      priority: fc.constantFrom('read', 'write', 'poll'),
    }),
    { maxLength: 4 },
  ),
  ms: fc.nat(1_500),
})

/** Advances time in small steps, in each of which the clock can jump. */
const pass = async (ms: number, clock: string): Promise<void> => {
  for (let left = ms; left > 0; left -= 25) {
    clockSteps[clock]?.(Math.min(left, 25))
    await vi.advanceTimersByTimeAsync(Math.min(left, 25))
  }
}

test.each(Object.entries(setUps))(
  'with %s every call ends within its timers, however the clock jumps',
  async (_, setUp) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), nameIn(clockSteps), async (steps, lastClock) => {
        let reply = replies['response'] as (typeof replies)[string]
        const memory = memoryFetch((sent) => reply(sent))
        const waits: number[] = []
        const transport: FullTransport = createFullTransport({
          ...setUp,
          fetch: memory.fetch,
          timeoutMs,
          maxWaitMs,
          hooks: {
            onResponse: ({ durationMs, queuedMs }: ResponseEvent) => waits.push(durationMs, queuedMs),
          },
        } as unknown as FullOptions)
        const open = new Set<string>()
        let made = 0
        for (const { clock, reply: name, calls, ms } of steps) {
          reply = replies[name] as (typeof replies)[string]
          for (const { method, priority } of calls) {
            const key = `${method} ${++made}`
            open.add(key)
            transport.request({ method, params: method === 'eth_blockNumber' ? [] : [`0x${made}`] }, { priority }).then(
              () => open.delete(key),
              (error: unknown) => {
                if (!isKeyrailError(error)) throw error
                open.delete(key)
              },
            )
          }
          await pass(ms, clock)
        }
        await pass(longestMs, lastClock)
        expect([...open]).toEqual([])
        expect(memory.open).toBe(0)
        expect(waits.filter((ms) => !(ms >= 0 && ms < Infinity))).toEqual([])

        // The transport works again afterwards. A daily limit can be exhausted, which is reported immediately.
        reply = replies['response'] as (typeof replies)[string]
        let end: string | undefined
        transport.request({ method: 'eth_getBalance', params: ['0x0'] }).then(
          () => (end = 'succeeded'),
          ({ kind }: { kind: string }) => (end = kind),
        )
        await pass(longestMs, 'runs well')
        expect(['succeeded', 'quota', 'throttled']).toContain(end)
        transport.close()
      }),
      { numRuns: 12 },
    )
  },
)
