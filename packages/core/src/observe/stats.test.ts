import { describe, expect, test } from 'vitest'
import type { CallEvent } from '../transport/call/callEvent.ts'
import { createStats } from './stats.ts'

const a = 'https://a.example/…'
const b = 'https://b.example/…'
const attempt = (redactedUrl: string, batchSize = 1): CallEvent => ({ type: 'attempt', redactedUrl, batchSize })

describe('createStats', () => {
  test('counts calls, and how they ended', () => {
    const stats = createStats()
    for (let i = 0; i < 5; i++) stats.started()
    stats.completed(undefined, 3)
    stats.completed('timeout', 100)
    stats.completed('timeout', 100)
    stats.completed('revert', 4)
    expect(stats.snapshot()).toMatchObject({
      calls: 5,
      inFlight: 1,
      answered: 1,
      failed: 3,
      failedByKind: { timeout: 2, revert: 1 },
      latency: { count: 4, sumMs: 207, maxMs: 100 },
    })
  })

  test('counts requests of each endpoint and in total', () => {
    const stats = createStats()
    stats.record(attempt(a))
    stats.record({ type: 'attempted', redactedUrl: a, durationMs: 4, kind: 'network' })
    stats.record(attempt(b))
    stats.record({ type: 'attempted', redactedUrl: b, durationMs: 6 })
    stats.record(attempt(b))
    const { endpoints, ...all } = stats.snapshot()
    expect(all).toMatchObject({ requests: 3, batches: 0, failed: 0 })
    expect(endpoints[a]).toMatchObject({ requests: 1, failed: 1, failedByKind: { network: 1 }, latency: { sumMs: 4 } })
    expect(endpoints[b]).toMatchObject({ requests: 2, failed: 0, failedByKind: {}, latency: { count: 1, sumMs: 6 } })
  })

  test.each([2, 3, 7, 49, 100])('counts a batch of %i calls as one request', (size) => {
    const stats = createStats()
    for (let batch = 0; batch < 1_000; batch++) for (let i = 0; i < size; i++) stats.record(attempt(a, size))
    stats.record(attempt(a))
    const traffic = { requests: 1_001, batches: 1_000, batchedCalls: 1_000 * size }
    expect(stats.snapshot()).toMatchObject({ ...traffic, endpoints: { [a]: traffic } })
  })

  test('counts retries, shared and cached results, hedges, reroutes and waits', () => {
    const stats = createStats()
    stats.record({ type: 'retry', kind: 'throttled', waitMs: 10 })
    stats.record({ type: 'joined' })
    stats.record({ type: 'joined' })
    stats.record({ type: 'cached' })
    stats.record({ type: 'hedged', redactedUrl: b })
    stats.record({ type: 'rerouted', redactedUrl: a, kind: 'network' })
    stats.record({ type: 'queued', redactedUrl: a, waitMs: 5 })
    stats.record({ type: 'queued', redactedUrl: b, waitMs: 2.5 })
    stats.hookFailed()
    expect(stats.snapshot()).toMatchObject({
      retries: 1,
      joined: 2,
      cached: 1,
      hedged: 1,
      rerouted: 1,
      queued: 2,
      queuedMs: 7.5,
      hookErrors: 1,
      endpoints: {
        [a]: { hedged: 0, rerouted: 1, queued: 1, queuedMs: 5 },
        [b]: { hedged: 1, rerouted: 0, queued: 1, queuedMs: 2.5 },
      },
    })
  })

  test('counts a bounded number of endpoints separately, and the rest together', () => {
    const stats = createStats()
    for (let round = 0; round < 2; round++)
      for (let i = 0; i < 1_000; i++) stats.record(attempt(`https://node.example/…${i}`))
    const { requests, endpoints } = stats.snapshot()
    expect(requests).toBe(2_000)
    expect(Object.keys(endpoints)).toHaveLength(65)
    expect(endpoints['https://node.example/…63']?.requests).toBe(2)
    expect(endpoints['(others)']?.requests).toBe(2_000 - 2 * 64)
  })

  test('calls the sources of layers for each snapshot', () => {
    let bytes = 0
    const stats = createStats({ cache: () => ({ bytes: ++bytes }), route: () => ({ [a]: { state: 'open' } }) })
    expect(stats.snapshot().layers).toEqual({ cache: { bytes: 1 }, route: { [a]: { state: 'open' } } })
    expect(stats.snapshot().layers).toEqual({ cache: { bytes: 2 }, route: { [a]: { state: 'open' } } })
  })

  test('returns snapshots that are JSON and never change', () => {
    const stats = createStats()
    stats.record(attempt(a))
    stats.record({ type: 'attempted', redactedUrl: a, durationMs: 1, kind: 'timeout' })
    stats.started()
    const before = stats.snapshot()
    const text = JSON.stringify(before)
    expect(JSON.parse(text)).toStrictEqual(before)
    stats.record(attempt(a))
    stats.record({ type: 'attempted', redactedUrl: a, durationMs: 1, kind: 'timeout' })
    stats.completed('timeout', 1)
    expect(JSON.stringify(before)).toBe(text)
  })
})
