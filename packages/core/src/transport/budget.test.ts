import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../clock/now.ts'
import { scriptedEndpoint, newCall, sendDown } from '../../test/scriptedEndpoint.ts'
import type { Outcome, ScriptedEndpoint, Sent } from '../../test/scriptedEndpoint.ts'
import { ACCEPTED_GROWTH, costGrowth } from '../../test/costGrowth.ts'
import { budget } from './budget.ts'
import type { Budgeted, BudgetOptions } from './budget.ts'
import type { RouteCall } from './call/call.ts'
import { compose, deadline } from '../../test/layers.ts'

const make = (
  options?: BudgetOptions,
  script?: ScriptedEndpoint['script'],
): { below: ScriptedEndpoint; limited: ScriptedEndpoint & Budgeted } => {
  const below = scriptedEndpoint(script)
  return { below, limited: budget(options)(below) }
}
const times = (below: ScriptedEndpoint): number[] => below.arrivals.map(({ at }) => Math.round(at - startedAt))
const throttle = (retryAfter?: string): Outcome => ({ facts: { text: 'slow down', status: 429, retryAfter } })
const quota = (data: object = {}, message = 'quota exceeded'): Outcome => ({
  facts: {
    text: message,
    status: 403,
    rpcError: { code: -32005, message, data: { reason: 'quota_exceeded', ...data } },
  },
})
const send = (limited: ScriptedEndpoint, count: number, fields?: Partial<RouteCall>, method?: string): Sent[] =>
  Array.from({ length: count }, () => sendDown(limited.send, method, fields))
const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

let startedAt = 0
beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, 12) - 7_000 })
  // The clock of a program that has run for a while.
  vi.advanceTimersByTime(7_000)
  startedAt = now()
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('a budget per second', () => {
  test('spaces calls out, with a burst of a tenth of a second', async () => {
    const { below, limited } = make({ requestsPerSecond: 20 })
    send(limited, 6)
    await vi.runAllTimersAsync()
    expect(times(below)).toEqual([0, 0, 50, 100, 150, 200])
  })

  test('sends a full burst at once after an idle time', async () => {
    const { below, limited } = make({ requestsPerSecond: 10, burst: 5 })
    send(limited, 7)
    await vi.runAllTimersAsync()
    expect(times(below)).toEqual([0, 0, 0, 0, 0, 100, 200])
  })

  test('counts compute units by the built-in table and by the user’s weights', async () => {
    const { below, limited } = make({ computeUnitsPerSecond: 100, burst: 20, computeUnits: { eth_call: 10 } })
    send(limited, 3, {}, 'eth_call')
    send(limited, 2, {}, 'eth_getBalance')
    await vi.runAllTimersAsync()
    expect(times(below)).toEqual([0, 0, 100, 300, 500])
    expect(limited.stats()).toMatchObject({ unit: 'computeUnits', rate: 100, used: 70 })
  })

  test('sends a call that costs more than a full bucket', async () => {
    const { below, limited } = make({ computeUnitsPerSecond: 100 })
    send(limited, 2, {}, 'trace_block')
    await vi.runAllTimersAsync()
    expect(times(below)).toEqual([0, 3_000])
  })

  test('never sends more in any window than the rate allows, plus one burst', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ requestsPerSecond: fc.integer({ min: 1, max: 200 }), burst: fc.integer({ min: 1, max: 50 }) }),
        fc.array(fc.record({ gapMs: fc.nat(400), calls: fc.nat(30), leaves: fc.nat(3) }), { maxLength: 20 }),
        async (options, waves) => {
          const { below, limited } = make(options)
          const all: Sent[] = []
          for (const { gapMs, calls, leaves } of waves) {
            await advance(gapMs)
            const sent = send(limited, calls)
            for (const one of sent.slice(0, leaves)) if (!one.completions) one.end('left')
            all.push(...sent)
          }
          await vi.runAllTimersAsync()
          expect(all.every(({ completions }) => completions === 1)).toBe(true)
          const at = below.arrivals.map((arrival) => arrival.at)
          const { requestsPerSecond, burst } = options
          for (let from = 0; from < at.length; from++)
            for (let to = from; to < at.length; to++) {
              const allowed = (((at[to] as number) - (at[from] as number)) * requestsPerSecond) / 1_000 + burst
              expect(to - from + 1).toBeLessThanOrEqual(allowed + 1e-6)
            }
        },
      ),
      { numRuns: 60 },
    )
  })

  test('estimates how long a call would wait', async () => {
    const { below, limited } = make({ requestsPerSecond: 10 })
    expect(limited.waitMs(newCall())).toBe(0)
    send(limited, 4)
    expect(limited.waitMs(newCall())).toBeCloseTo(400)
    expect(limited.waitMs(newCall('eth_chainId', { options: { priority: 'write' } }))).toBeCloseTo(100)
    send(limited, 1)
    await vi.runAllTimersAsync()
    expect(times(below)[4]).toBe(400)
  })

  test('ignores calls that have left the queue in the estimate', async () => {
    const { limited } = make({ requestsPerSecond: 10 })
    const [, second] = send(limited, 4) as [Sent, Sent]
    second.end('left')
    expect(limited.waitMs(newCall())).toBeCloseTo(300)
    await vi.runAllTimersAsync()
  })

  test('passes on every result, and every reason to end a call', async () => {
    const { limited } = make({ requestsPerSecond: 10, burst: 2 }, (_, n) =>
      n === 0 ? { result: null } : { never: true },
    )
    const [succeeded, ended] = send(limited, 2) as [Sent, Sent]
    ended.end(undefined)
    await vi.runAllTimersAsync()
    expect(succeeded).toMatchObject({ ok: true, value: null, completions: 1 })
    expect(ended).toMatchObject({ ok: false, value: undefined, completions: 1 })
  })

  test('reports how long a call waited, and does not count that time against its deadline', async () => {
    const { limited } = make({ requestsPerSecond: 10 })
    const [first, second] = send(limited, 2, { deadlineAt: now() + 5_000 }) as [Sent, Sent]
    expect(second.call.progress.queued?.since).toBe(startedAt)
    await vi.runAllTimersAsync()
    expect(first.events).toEqual([])
    expect(second.events).toEqual([{ type: 'queued', redactedUrl: limited.redactedUrl, waitMs: 100 }])
    expect(second.call.progress).toMatchObject({ queuedMs: 100, queued: undefined })
  })
})

describe('waiting', () => {
  test('is rejected at once if it would take longer than maxWaitMs', async () => {
    const { below, limited } = make({ requestsPerSecond: 1, maxWaitMs: 2_500 })
    const sent = send(limited, 5)
    expect(sent.map(({ completions }) => completions)).toEqual([0, 0, 0, 1, 1])
    expect(sent[3]?.value).toMatchObject({
      kind: 'throttled',
      source: 'client',
      retryable: false,
      redactedUrl: limited.redactedUrl,
      retryAfterMs: 3_000,
      message: expect.stringContaining('the budget allows no further request in the next 3000 ms'),
    })
    await vi.runAllTimersAsync()
    expect(below.arrivals).toHaveLength(3)
  })

  test('is not rejected if its turn comes at the very moment at which maxWaitMs ends', async () => {
    const { below, limited } = make({ requestsPerSecond: 1, maxWaitMs: 2_000 })
    const sent = send(limited, 4)
    expect(sent.map(({ completions }) => completions)).toEqual([0, 0, 0, 1])
    await vi.runAllTimersAsync()
    expect(times(below)).toEqual([0, 1_000, 2_000])
    expect(sent[2]?.ok).toBe(true)
  })

  test('ends after maxWaitMs if other calls went first', async () => {
    const { below, limited } = make({ requestsPerSecond: 1, maxWaitMs: 2_500 })
    send(limited, 1)
    const [poll] = send(limited, 1, { options: { priority: 'poll' } }) as [Sent]
    send(limited, 2, { options: { priority: 'write' } })
    await advance(2_499)
    expect(poll.completions).toBe(0)
    await advance(1)
    expect(poll.value).toMatchObject({ kind: 'throttled', source: 'client' })
    await vi.runAllTimersAsync()
    expect(below.arrivals.map(({ priority }) => priority)).toEqual([undefined, 'write', 'write'])
  })

  test('ends at once when the call is ended, at any position in the queue', async () => {
    const { below, limited } = make({ requestsPerSecond: 10 })
    const sent = send(limited, 5) as [Sent, Sent, Sent, Sent, Sent]
    const reason = new Error('enough')
    sent[1].end(reason)
    sent[3].end(reason)
    expect([sent[1], sent[3]].map(({ ok, value }) => [ok, value])).toEqual([
      [false, reason],
      [false, reason],
    ])
    expect(limited.stats().queued.read).toBe(2)
    await vi.runAllTimersAsync()
    expect(times(below)).toEqual([0, 100, 200])
    expect(sent.every(({ completions }) => completions === 1)).toBe(true)
  })

  test('has no timer once the last call has left', () => {
    const { limited } = make({ requestsPerSecond: 1 })
    for (const one of send(limited, 3)) if (one.call.progress.queued) one.end('left')
    // Only the call in flight has one.
    expect(vi.getTimerCount()).toBe(1)
    vi.runAllTimers()
    const queued = (['poll', 'read', 'write'] as const).flatMap((priority) =>
      send(limited, 1, { options: { priority } }),
    )
    expect(vi.getTimerCount()).toBe(1)
    for (const one of queued) one.end('left')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('ends when the transport closes, and when a deadline passes', async () => {
    const { below, limited } = make({ requestsPerSecond: 1 })
    const transport = compose(limited, deadline({ timeoutMs: 1_500 }))
    const outcomes = Array.from({ length: 4 }, () =>
      transport.request({ method: 'eth_chainId' }).catch((error: { kind: string }) => error.kind),
    )
    await advance(1_500)
    expect(await Promise.all(outcomes.slice(0, 2))).toEqual(['0x1', '0x1'])
    transport.close()
    expect(below.closed).toBe(true)
    const rest = await Promise.all(outcomes.slice(2))
    for (const kind of rest) expect(['timeout', 'aborted']).toContain(kind)
    expect(below.arrivals).toHaveLength(2)
  })

  test('has one timer, even if responses arrive at once and start new calls', async () => {
    const at: number[] = []
    const atOnce = budget({ requestsPerSecond: 10 })({
      ...scriptedEndpoint(),
      send: (_, complete) => {
        at.push(Math.round(now() - startedAt))
        complete(true, '0x1')
      },
    })
    const again = (): void => {
      if (at.length < 5) atOnce.send(newCall(), again)
    }
    again()
    for (let i = 0; i < 5; i++) {
      expect(vi.getTimerCount()).toBeLessThanOrEqual(1)
      await advance(100)
    }
    expect(at).toEqual([0, 100, 200, 300, 400])
  })

  test('takes time linear in the number of waiting calls', () => {
    const slow = make({ requestsPerSecond: 1, maxWaitMs: 2 ** 31 - 1 }).limited
    const growth = costGrowth(20_000, (size) => () => {
      const sent = send(slow, size, {}).filter(({ completions }) => completions === 0)
      for (const one of sent.reverse()) one.end('left')
    })
    expect(growth).toBeLessThan(ACCEPTED_GROWTH)
    expect(slow.stats().queued.read).toBe(0)
  })
})

describe('the queues by priority', () => {
  const priorities = ['poll', 'read', 'write'] as const

  test('send writes before reads, and reads before polling', async () => {
    const { below, limited } = make({ requestsPerSecond: 10 })
    send(limited, 1)
    for (const priority of priorities) send(limited, 12, { options: { priority } })
    expect(limited.stats().queued).toEqual({ write: 12, read: 12, poll: 12 })
    await vi.runAllTimersAsync()
    expect(below.arrivals.slice(1).map(({ priority }) => priority)).toEqual(
      ['write', 'read', 'poll'].flatMap((priority) => Array.from({ length: 12 }, () => priority)),
    )
  })

  test('put calls that send a transaction first, unless they have another priority', async () => {
    const { below, limited } = make({ requestsPerSecond: 10 })
    send(limited, 3)
    send(limited, 1, {}, 'eth_sendRawTransaction')
    send(limited, 1, { options: { priority: 'poll' } }, 'eth_sendRawTransaction')
    await vi.runAllTimersAsync()
    expect(below.arrivals.map(({ method, priority }) => `${method} ${priority}`)).toEqual([
      'eth_chainId undefined',
      'eth_sendRawTransaction undefined',
      'eth_chainId undefined',
      'eth_chainId undefined',
      'eth_sendRawTransaction poll',
    ])
  })

  test.each([
    ['poll', 'read', 'write'],
    ['read', 'poll', 'write'],
  ] as const)('give one turn in ten to the call that has waited longest, a %s', async (...order) => {
    const { below, limited } = make({ requestsPerSecond: 10 })
    send(limited, 1)
    for (const priority of order) {
      send(limited, 30, { options: { priority } })
      await advance(1)
    }
    await advance(4_000)
    const queue = below.arrivals.slice(1).map(({ priority }) => priority)
    expect(queue.slice(0, 10)).toEqual([...Array(9).fill('write'), order[0]])
    expect(queue.slice(10, 20)).toEqual([...Array(9).fill('write'), order[0]])
    await vi.runAllTimersAsync()
    expect(below.arrivals).toHaveLength(91)
  })

  test('keep their order in any mix', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...priorities), { maxLength: 9 }), async (mix) => {
        const { below, limited } = make({ requestsPerSecond: 10 })
        send(limited, 1)
        mix.forEach((priority, index) =>
          sendDown(limited.send, 'eth_call', { options: { priority }, params: `[${index}]` }),
        )
        await vi.runAllTimersAsync()
        const expected = mix
          .map((priority, index) => ({ priority, index }))
          .sort((a, b) => priorities.indexOf(b.priority) - priorities.indexOf(a.priority) || a.index - b.index)
        expect(below.arrivals.slice(1).map(({ params }) => params)).toEqual(expected.map(({ index }) => `[${index}]`))
      }),
      { numRuns: 50 },
    )
  })
})

describe('a budget per day', () => {
  test('sends exactly this many calls per UTC day, with any outcome', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.nat(20), { maxLength: 8 }),
        async (perDay, waves) => {
          vi.setSystemTime(Date.UTC(2026, 0, 1, 12))
          const { below, limited } = make({ requestsPerDay: perDay }, (_, n) =>
            n % 3
              ? { result: n }
              : { facts: { text: 'execution reverted', rpcError: { code: 3, message: 'reverted' } } },
          )
          for (const [index, wave] of waves.entries()) {
            const day = Math.floor(index / 4)
            if (index % 4 === 0) vi.setSystemTime(Date.UTC(2026, 0, 1 + day, 12))
            const before = limited.stats().usedToday
            const sent = send(limited, wave)
            await vi.runAllTimersAsync()
            const { usedToday, leftToday } = limited.stats()
            expect(usedToday).toBe(Math.min(perDay, before + wave))
            expect(leftToday).toBe(perDay - usedToday)
            expect(sent.filter(({ ok, value }) => !ok && (value as { kind: string }).kind === 'quota')).toHaveLength(
              before + wave - usedToday,
            )
          }
          const used = limited.stats().used
          expect(below.arrivals).toHaveLength(used)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('reports when it resets', () => {
    const { limited } = make({ requestsPerDay: 1 })
    const [, second] = send(limited, 2) as [Sent, Sent]
    expect(second.value).toMatchObject({ kind: 'quota', source: 'client', retryAfterMs: 12 * 3_600_000 })
    vi.runAllTimers()
  })

  test('continues at midnight with the calls that could wait for it', async () => {
    vi.setSystemTime(Date.UTC(2026, 0, 1, 23, 59, 50))
    const { below, limited } = make({ requestsPerDay: 2 })
    const sent = send(limited, 3)
    await vi.runAllTimersAsync()
    expect(times(below)).toEqual([0, 0, 10_000])
    expect(sent[2]?.ok).toBe(true)
    expect(limited.stats()).toMatchObject({ used: 3, usedToday: 1, leftToday: 1 })
  })

  test('rejects queued calls for which nothing is left', async () => {
    const { below, limited } = make({ requestsPerSecond: 10, requestsPerDay: 2 })
    const sent = send(limited, 4)
    await vi.runAllTimersAsync()
    expect(below.arrivals).toHaveLength(2)
    expect(sent.map(({ value }) => (value as { kind?: string }).kind ?? value)).toEqual([
      '0x1',
      '0x1',
      'quota',
      'quota',
    ])
  })

  test('counts compute units', async () => {
    const { below, limited } = make({ computeUnitsPerDay: 100 })
    send(limited, 5, {}, 'eth_call')
    await vi.runAllTimersAsync()
    expect(below.arrivals).toHaveLength(3)
    expect(limited.stats()).toMatchObject({ usedToday: 78, leftToday: 22 })
  })

  test('refunds the cost of a call that was never sent', async () => {
    const { limited } = make({ requestsPerSecond: 10, requestsPerDay: 5 }, () => ({
      facts: { kind: 'unavailable', text: 'left alone', unsent: true },
    }))
    send(limited, 1)
    await vi.runAllTimersAsync()
    expect(limited.stats()).toMatchObject({ used: 0, usedToday: 0, leftToday: 5 })
    expect(limited.waitMs(newCall())).toBe(0)
  })

  test('refunds nothing on the next day', async () => {
    vi.setSystemTime(Date.UTC(2026, 0, 1, 23, 59, 59))
    const { limited } = make({ requestsPerDay: 5 }, (_, n) =>
      n === 0 ? { facts: { kind: 'unavailable', text: 'left alone', unsent: true }, afterMs: 2_000 } : { result: n },
    )
    send(limited, 1)
    await advance(1_500)
    send(limited, 1)
    await vi.runAllTimersAsync()
    expect(limited.stats()).toMatchObject({ used: 1, usedToday: 1, leftToday: 4 })
  })

  test('without a limit still counts', async () => {
    const { limited } = make()
    send(limited, 3)
    await vi.runAllTimersAsync()
    expect(limited.stats()).toMatchObject({ unit: 'requests', used: 3, usedToday: 3 })
    expect(limited.stats().leftToday).toBeUndefined()
    vi.setSystemTime(Date.UTC(2026, 0, 2, 0, 0, 5))
    await advance(2_000)
    send(limited, 2)
    await vi.runAllTimersAsync()
    expect(limited.stats()).toMatchObject({ used: 5, usedToday: 2 })
  })

  test.each([1, -1, 30, -30])(
    'still counts earlier calls after the date was changed by %d days and back',
    async (days) => {
      const { below, limited } = make({ requestsPerDay: 3 }, undefined)
      send(limited, 2)
      await advance(10)
      const date = Date.now()
      vi.setSystemTime(date + days * 86_400_000)
      send(limited, 2)
      await advance(10)
      expect(below.arrivals).toHaveLength(4)
      vi.setSystemTime(date)
      expect(limited.stats()).toMatchObject({ usedToday: 2, leftToday: 1 })
      const sent = send(limited, 2)
      await advance(10)
      expect(below.arrivals).toHaveLength(5)
      expect(sent[1]?.value).toMatchObject({ kind: 'quota' })
    },
  )
})

describe('after a rejection as too many', () => {
  test('pauses as long as the endpoint requests, sends one call, and then the others, without a configured budget', async () => {
    const { below, limited } = make({}, (_, n) => (n === 0 ? throttle('2') : { result: n, afterMs: 50 }))
    send(limited, 1)
    await advance(1)
    expect(limited.waitMs(newCall())).toBeCloseTo(2_000)
    expect(limited.stats().pausedUntil).toBeCloseTo(Date.now() + 2_000)
    const sent = send(limited, 3)
    await advance(1_998)
    expect(below.arrivals).toHaveLength(1)
    await advance(3)
    // Only the trial.
    expect(below.arrivals).toHaveLength(2)
    await advance(550)
    expect(below.arrivals).toHaveLength(3)
    await vi.runAllTimersAsync()
    expect(sent.every(({ ok }) => ok)).toBe(true)
    expect(limited.stats().pausedUntil).toBeUndefined()
  })

  test('pauses longer each time if the endpoint names no time, up to 16 seconds, and briefly again after a success', async () => {
    let responses = false
    const { limited } = make({}, () => (responses ? { result: 1 } : throttle()))
    const restAfterOne = async (): Promise<number> => {
      send(limited, 1)
      while (limited.stats().queued.read > 0) await advance(1)
      await advance(1)
      return Math.round((limited.stats().pausedUntil ?? Date.now()) - Date.now())
    }
    const rests: number[] = []
    for (let i = 0; i < 9; i++) rests.push(await restAfterOne())
    expect(rests).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 16_000])
    responses = true
    expect(await restAfterOne()).toBe(0)
    responses = false
    expect(await restAfterOne()).toBe(250)
  })

  test('halves the rate once for all calls in flight, and recovers to the limit', async () => {
    let rejects = true
    const { limited } = make({ requestsPerSecond: 100, burst: 20 }, () => (rejects ? throttle('0.1') : { result: 1 }))
    send(limited, 20)
    await advance(5)
    expect(limited.stats().rate).toBe(50)
    rejects = false
    await advance(200)
    send(limited, 1)
    await advance(1)
    const rates: number[] = []
    for (let second = 0; second < 30; second++) {
      for (let i = 0; i < 10; i++) {
        send(limited, 2)
        await advance(100)
      }
      rates.push(limited.stats().rate as number)
    }
    expect(rates).toEqual([...rates].sort((a, b) => a - b))
    // Two units per second.
    expect((rates[10] as number) - (rates[9] as number)).toBeCloseTo(2, 0)
    expect(rates.at(-1)).toBe(100)
  })

  test('starts from the measured rate if no budget is set, and raises it again', async () => {
    let rejects = false
    const { limited } = make({}, () => (rejects ? throttle('0') : { result: 1 }))
    expect(limited.stats().rate).toBeUndefined()
    for (let i = 0; i < 20; i++) {
      send(limited, 4)
      await advance(100)
    }
    rejects = true
    send(limited, 1)
    await advance(1)
    rejects = false
    const { rate } = limited.stats()
    // About 40 calls a second were sent.
    expect(rate).toBeGreaterThan(15)
    expect(rate).toBeLessThan(25)
    for (let i = 0; i < 600; i++) {
      send(limited, 1)
      await advance(100)
    }
    expect(limited.stats().rate).toBeUndefined()
  })

  test('never slows down to zero', async () => {
    const { limited } = make({ requestsPerSecond: 64 }, () => throttle('0'))
    for (let i = 0; i < 20; i++) {
      send(limited, 1)
      await vi.runAllTimersAsync()
    }
    expect(limited.stats().rate).toBe(2)
  })

  test('sends another single trial if the first one was canceled', async () => {
    const { below, limited } = make({ requestsPerSecond: 100 }, (_, n) =>
      n === 0 ? throttle('1') : n === 1 ? { never: true } : { result: n, afterMs: 100 },
    )
    send(limited, 1)
    await advance(1)
    const [trial, ...others] = send(limited, 4) as [Sent, ...Sent[]]
    await advance(1_000)
    expect(below.arrivals).toHaveLength(2)
    trial.end('enough')
    await advance(90)
    expect(below.arrivals).toHaveLength(3)
    await advance(20)
    expect(below.arrivals).toHaveLength(5)
    await vi.runAllTimersAsync()
    expect(others.map(({ value }) => value)).toEqual([2, 3, 4])
  })

  test('rejects calls that cannot wait that long at once, queued or new', async () => {
    const { limited } = make({ requestsPerSecond: 10 }, (_, n) =>
      n === 0 ? { ...throttle('20'), afterMs: 50 } : { result: n },
    )
    const hurried = { deadlineAt: now() + 10_000 }
    const patient = { deadlineAt: now() + 30_000 }
    const [, queued] = send(limited, 2, hurried) as [Sent, Sent]
    const [waits] = send(limited, 1, patient) as [Sent]
    await advance(50)
    expect(queued.value).toMatchObject({ kind: 'throttled', source: 'client', retryAfterMs: 20_000 })
    const [late] = send(limited, 1, hurried) as [Sent]
    expect(late.value).toMatchObject({ kind: 'throttled', source: 'client' })
    expect(waits.completions).toBe(0)
    expect(limited.stats().queued.read).toBe(1)
    await vi.runAllTimersAsync()
    expect(waits.ok).toBe(true)
    expect(queued.completions).toBe(1)
  })

  test('queues a call whose deadline equals the pause: its time does not run in the queue', async () => {
    const { limited } = make({ requestsPerSecond: 10 }, (_, n) =>
      n === 0 ? { ...throttle('20'), afterMs: 50 } : { result: n },
    )
    const [, queued] = send(limited, 2, { deadlineAt: now() + 20_000 }) as [Sent, Sent]
    await vi.runAllTimersAsync()
    expect(queued).toMatchObject({ ok: true, completions: 1 })
  })

  test('completes a call once if the failure of another call ends it', async () => {
    const { limited } = make({ requestsPerSecond: 10 }, () => ({ ...throttle('20'), afterMs: 50 }))
    const hurried = { deadlineAt: now() + 10_000 }
    send(limited, 1, hurried)
    limited.send(newCall('eth_chainId', hurried), () => next.end('enough'))
    const next = sendDown(limited.send, 'eth_chainId', hurried)
    await vi.runAllTimersAsync()
    expect(next).toMatchObject({ value: 'enough', completions: 1 })
    expect(limited.stats().queued.read).toBe(0)
  })

  test('ignores a requested pause of years', async () => {
    const { limited } = make({}, () => throttle('1e9'))
    send(limited, 1)
    await vi.runAllTimersAsync()
    expect(limited.waitMs(newCall())).toBeLessThanOrEqual(300_000)
  })

  test('reacts to the service only: rejections by this client and failures of the node change nothing', async () => {
    const ways: Outcome[] = [
      { facts: { kind: 'throttled', text: 'too many are in flight' } },
      { facts: { text: 'execution reverted', rpcError: { code: 3, message: 'execution reverted' } } },
      { facts: { kind: 'network', text: 'reset' } },
    ]
    const { limited } = make({ requestsPerSecond: 10, burst: 10 }, (_, n) => ways[n] as Outcome)
    send(limited, 3)
    await vi.runAllTimersAsync()
    expect(limited.stats()).toMatchObject({ rate: 10, pausedUntil: undefined })
  })
})

describe('after a used-up quota', () => {
  const restMs = async (outcome: Outcome): Promise<number> => {
    const { limited } = make({}, () => outcome)
    send(limited, 1)
    await vi.runAllTimersAsync()
    return Math.round(limited.waitMs(newCall()))
  }

  test('pauses until the named reset, the end of the day, or for some minutes', async () => {
    expect(await restMs(quota({ resetAt: '2026-01-01T15:00:00Z' }))).toBeCloseTo(3 * 3_600_000, -1)
    expect(await restMs(quota({ resetAt: Date.UTC(2026, 0, 1, 14) / 1_000 }))).toBeCloseTo(2 * 3_600_000, -1)
    vi.setSystemTime(Date.UTC(2026, 0, 1, 12))
    expect(await restMs(quota({ window: 'day' }))).toBeCloseTo(12 * 3_600_000, -1)
    vi.setSystemTime(Date.UTC(2026, 0, 1, 12))
    expect(await restMs(quota({}, 'daily request count exceeded'))).toBeCloseTo(12 * 3_600_000, -1)
    expect(await restMs(quota())).toBeCloseTo(300_000, -1)
    expect(await restMs(quota({ resetAt: '9999-01-01T00:00:00Z' }))).toBeCloseTo(31 * 86_400_000, -1)
    expect(await restMs(quota({ resetAt: 'soon' }))).toBeCloseTo(300_000, -1)
  })

  test('fails calls at once with that reason, and tries again after the pause', async () => {
    let used = true
    const { below, limited } = make({}, () => (used ? quota({ resetAt: '2026-01-01T13:00:00Z' }) : { result: 1 }))
    const [first] = send(limited, 1) as [Sent]
    await advance(1)
    expect(first.value).toMatchObject({ kind: 'quota', source: 'service' })
    const [second] = send(limited, 1) as [Sent]
    expect(second.value).toMatchObject({ kind: 'quota', source: 'client' })
    expect(limited.stats().pausedUntil).toBeCloseTo(Date.UTC(2026, 0, 1, 13), -1)
    used = false
    await advance(3_600_000)
    const [third] = send(limited, 1) as [Sent]
    await vi.runAllTimersAsync()
    expect(third.ok).toBe(true)
    expect(below.arrivals).toHaveLength(2)
    // The rejection was not about the rate.
    expect(limited.stats().rate).toBeUndefined()
  })

  test('without a known reset tries again less and less often', async () => {
    const { limited } = make({}, () => quota())
    const rests: number[] = []
    for (let i = 0; i < 6; i++) {
      send(limited, 1)
      await advance(1)
      const ms = limited.waitMs(newCall())
      rests.push(Math.round(ms / 60_000))
      await advance(ms + 1)
    }
    expect(rests).toEqual([5, 10, 20, 40, 60, 60])
  })
})

describe('options', () => {
  test.each([
    [{ requestsPerSecond: 0 }, 'requestsPerSecond must be a number from 0.001'],
    [{ requestsPerSecond: 2 ** 31 }, 'requestsPerSecond must be a number from 0.001 to 2147483647'],
    [{ computeUnitsPerSecond: Number.NaN }, 'computeUnitsPerSecond must be a number'],
    [{ requestsPerDay: -1 }, 'requestsPerDay must be a number'],
    [{ computeUnitsPerDay: '5' as unknown as number }, 'computeUnitsPerDay must be a number'],
    [{ requestsPerSecond: 1, burst: 0 }, 'burst must be a number'],
    [{ burst: 5 }, 'burst works only with requestsPerSecond or computeUnitsPerSecond'],
    [{ maxWaitMs: 2 ** 31 }, 'maxWaitMs must be a number from 0 to 2147483647'],
    [{ computeUnits: { eth_call: -1 } }, 'computeUnits.eth_call must be a number from 0'],
    [{ requestsPerSecond: 1, computeUnitsPerSecond: 1 }, 'in requests or in compute units, not both'],
    [{ requestsPerDay: 1, computeUnitsPerDay: 1 }, 'in requests or in compute units, not both'],
  ])('%j are rejected', (options, message) => {
    expect(() => budget(options)).toThrow(message)
  })

  test('each endpoint has its own budget', async () => {
    const limit = budget({ requestsPerSecond: 1 })
    const [one, two] = [scriptedEndpoint(), scriptedEndpoint()]
    for (const endpoint of [one, two]) sendDown(limit(endpoint).send)
    await vi.runAllTimersAsync()
    expect([...times(one), ...times(two)]).toEqual([0, 0])
  })
})
