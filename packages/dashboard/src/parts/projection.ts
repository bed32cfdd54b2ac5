import type { UsageView } from '@keyrail/gateway'

/** A period that a limit counts. */
export type Period = 'day' | 'month'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The start of the period that ends at a time, in milliseconds since 1970. */
const getStart = (period: Period, resetAt: number): number => {
  if (period === 'day') return resetAt - dayMs
  const end = new Date(resetAt)
  return Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1)
}

/**
 * Projects when a limit is used up, at the average pace since it was reset.
 * @param now - Milliseconds since 1970.
 * @returns The time; `undefined` if the limit lasts until it resets, is used up already, or was reset too recently to know the pace: less than an
 *   hour ago for a day, less than a day ago for a month.
 */
export function getExhaustion(usage: UsageView['day'], period: Period, now: number): string | undefined {
  const { used, limit } = usage
  const resetAt = Date.parse(usage.resetAt)
  const elapsedMs = now - getStart(period, resetAt)
  if (limit === null || used === 0 || used >= limit || elapsedMs < (period === 'day' ? hourMs : dayMs)) return undefined
  const at = now + ((limit - used) / used) * elapsedMs
  return at < resetAt ? new Date(at).toISOString() : undefined
}
