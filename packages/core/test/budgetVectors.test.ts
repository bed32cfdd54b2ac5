import { budgets } from '@keyrail/vectors'
import type { BudgetCase, VectorResponse } from '@keyrail/vectors'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../src/clock/now.ts'
import type { FailureFacts } from '../src/failure/failureFacts.ts'
import { budget } from '../src/transport/budget.ts'
import { scriptedEndpoint, sendDown } from './scriptedEndpoint.ts'
import type { Outcome, Sent } from './scriptedEndpoint.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

const toOutcome = ({ result = '0x1', facts, afterMs = 1 }: VectorResponse): Outcome =>
  facts ? { facts: facts as FailureFacts, afterMs } : { result, afterMs }

const run = async ({ options, calls, date = '2026-01-01T12:00:00Z' }: BudgetCase): Promise<void> => {
  vi.setSystemTime(new Date(date))
  const startedAt = now()
  const below = scriptedEndpoint(({ params }) => {
    const [group] = JSON.parse(params) as [number]
    return toOutcome(calls[group]?.response ?? {})
  })
  const { send } = budget(options)(below)
  const sent = calls.map((): Sent[] => [])
  for (const [
    group,
    { atMs = 0, count = 1, method = 'eth_getBalance', priority, timeoutMs = 10_000 },
  ] of calls.entries())
    setTimeout(() => {
      for (let i = 0; i < count; i++) {
        const params = JSON.stringify([group, i])
        sent[group]?.push(sendDown(send, method, { params, options: { priority }, deadlineAt: now() + timeoutMs }))
      }
    }, atMs)
  await vi.runAllTimersAsync()
  for (const [group, { expect: expected }] of calls.entries())
    for (const [i, wanted] of expected.entries()) {
      const arrival = below.arrivals.find(({ params }) => params === JSON.stringify([group, i]))
      const { value } = sent[group]?.[i] ?? {}
      const what = `call ${i} of ${group}`
      if (typeof wanted === 'string') {
        expect(arrival, what).toBe(undefined)
        expect(value, what).toMatchObject({ kind: wanted, source: 'client' })
      } else
        expect(
          Math.abs((arrival?.at ?? Infinity) - startedAt - wanted),
          `${what} at ${(arrival?.at ?? Infinity) - startedAt}`,
        ).toBeLessThanOrEqual(2)
    }
}

describe('budgets.json', () => {
  test.each(budgets.filter(({ appliesTo }) => appliesTo.includes('ts')))('$name', async (one) => {
    await expect(run(one)).resolves.toBeUndefined()
  })
})
