import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../../clock/now.ts'
import { newCall } from '../../../test/scriptedEndpoint.ts'
import { endWait, follow, startWait, timeLeft } from './callProgress.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const newCallFor = (ms: number) => newCall('eth_chainId', { deadlineAt: now() + ms })

describe('the clock of a call', () => {
  test('stops while the call waits in a queue', () => {
    const call = newCallFor(1_000)
    vi.advanceTimersByTime(100)
    const entry = { since: now() }
    startWait(call, entry)
    vi.advanceTimersByTime(5_000)
    expect(timeLeft(call)).toBeCloseTo(900)
    endWait(call, entry, now())
    vi.advanceTimersByTime(300)
    expect(timeLeft(call)).toBeCloseTo(600)
  })

  test('is not started again by a queue in which the call waited before', () => {
    const call = newCallFor(1_000)
    const [before, current] = [{ since: now() }, { since: now() }]
    startWait(call, before)
    startWait(call, current)
    vi.advanceTimersByTime(100)
    endWait(call, before, now())
    vi.advanceTimersByTime(100)
    expect(timeLeft(call)).toBeCloseTo(1_000)
  })

  test('stops while the followed call waits, from when it follows it until it follows another one', () => {
    const [call, first, second] = [newCallFor(1_000), newCallFor(1_000), newCallFor(1_000)]
    for (const one of [first, second]) startWait(one, { since: now() })
    vi.advanceTimersByTime(100)
    expect(timeLeft(call)).toBeCloseTo(900)
    follow(call, first)
    vi.advanceTimersByTime(500)
    expect(timeLeft(call)).toBeCloseTo(900)
    follow(call, second)
    vi.advanceTimersByTime(500)
    expect(timeLeft(call)).toBeCloseTo(900)
    follow(call, newCallFor(1_000))
    vi.advanceTimersByTime(500)
    expect(timeLeft(call)).toBeCloseTo(400)
  })
})
