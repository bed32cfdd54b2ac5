import { describe, expect, test } from 'vitest'
import { createBackoff } from './createBackoff.ts'
import type { Backoff } from './createBackoff.ts'

const start = (): { backoff: Backoff; pass: (ms: number) => void; pauses: () => number } => {
  let at = 0
  let pauses = 0
  const backoff = createBackoff({ now: () => at, onPause: () => (pauses += 1) })
  return { backoff, pass: (ms) => (at += ms), pauses: () => pauses }
}
/** Passes time until the pause is over. @returns How long it took, in steps of 100 ms. */
const getPauseMs = ({ backoff, pass }: ReturnType<typeof start>): number => {
  let waited = 0
  for (; backoff.isPaused(); waited += 100) pass(100)
  return waited
}

describe('a backoff', () => {
  test.each([
    ['throttled', [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]],
    ['quota', [60_000, 120_000, 240_000, 480_000, 600_000, 600_000]],
  ] as const)('pauses longer and longer after %s', (kind, lengths) => {
    const started = start()
    for (const ms of lengths) {
      started.backoff.learn({ kind })
      expect(getPauseMs(started)).toBe(ms)
    }
    expect(started.pauses()).toBe(1)
  })

  test('starts over after a result', () => {
    const started = start()
    for (let round = 0; round < 3; round += 1) {
      started.backoff.learn({ kind: 'throttled' })
      expect(getPauseMs(started)).toBe(1_000)
      started.backoff.learn({ kind: 'result' })
    }
    expect(started.pauses()).toBe(3)
  })

  test('counts the calls that were in flight together once', () => {
    const started = start()
    for (let call = 0; call < 50; call += 1) started.backoff.learn({ kind: 'throttled' })
    started.backoff.learn({ kind: 'result' })
    expect(getPauseMs(started)).toBe(1_000)
  })

  test.each([
    ['throttled', 5_000, 5_000],
    ['quota', 5_000, 5_000],
    ['throttled', 100, 100],
    ['throttled', 1e9, 3_600_000],
    ['unavailable', 3_000, 3_000],
  ] as const)('after %s waits as long as the node requests: %i ms', (kind, retryAfterMs, expected) => {
    const started = start()
    started.backoff.learn({ kind, retryAfterMs })
    expect(getPauseMs(started)).toBe(expected)
  })

  test('is extended by a node that requests more during a pause', () => {
    const started = start()
    started.backoff.learn({ kind: 'throttled' })
    started.backoff.learn({ kind: 'throttled', retryAfterMs: 9_000 })
    started.backoff.learn({ kind: 'throttled', retryAfterMs: 2_000 })
    expect(getPauseMs(started)).toBe(9_000)
  })

  test.each(['unavailable', 'timeout', 'network', 'revert', 'missingData', 'aborted'] as const)(
    'ignores %s',
    (kind) => {
      const { backoff } = start()
      backoff.learn({ kind })
      expect(backoff.isPaused()).toBe(false)
    },
  )
})
