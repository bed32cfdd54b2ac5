import type { RateDecision } from './rateDecision.ts'

/**
 * The headers that tell a caller how much is left.
 * @param nowMs - Milliseconds since 1970; `X-RateLimit-Reset` is a Unix time in seconds.
 */
export const rateHeaders = (
  rate: Pick<RateDecision, 'perSecond' | 'remaining' | 'resetMs'>,
  nowMs: number,
): readonly string[] => [
  'X-RateLimit-Limit',
  String(rate.perSecond),
  'X-RateLimit-Remaining',
  String(rate.remaining),
  'X-RateLimit-Reset',
  String(Math.ceil((nowMs + rate.resetMs) / 1000)),
]
