import { expect, test } from 'vitest'
import { getQuotaState } from './quotaState.ts'

const window = (used: number, limit: number | null) => ({
  used,
  limit,
  remaining: limit === null ? null : Math.max(0, limit - used),
  resetAt: '2026-11-24T00:00:00.000Z',
})

test('reports a quota from 80 %, and one that is used up before one that is not', () => {
  const state = (day: ReturnType<typeof window>, month: ReturnType<typeof window>) => {
    const found = getQuotaState({ day, month })
    return found && `${found.period}${found.isUsedUp ? ' used up' : ''}`
  }
  expect(state(window(79, 100), window(9, null))).toBeUndefined()
  expect(state(window(80, 100), window(9, null))).toBe('daily')
  expect(state(window(100, 100), window(80, 100))).toBe('daily used up')
  expect(state(window(100, 100), window(100, 100))).toBe('monthly used up')
  expect(state(window(0, 0), window(0, null))).toBe('daily used up')
  expect(getQuotaState(undefined)).toBeUndefined()
})
